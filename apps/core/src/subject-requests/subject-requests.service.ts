import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, newId, pageOf, versionTag, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { requireMatch, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { ArchiveStart } from './archive/archive-start.js';
import { ManualCompletion, demandContent } from './manual-completion.js';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import { identityForms, normalIdentity } from '../vocabulary/identities/identity-value.js';
import { ErasureSignal } from './erasure/erasure.signal.js';
import { ErasureStart } from './erasure/erasure-start.js';
import { dueAt, EARLIEST, extendedDueAt } from './jurisdictions.js';
import type {
  CreateSubjectRequestDto,
  RejectionInputDto,
  SubjectRequestDto,
  UpdateSubjectRequestDto,
  VerificationInputDto,
} from './subject-request.dto.js';
import {
  ARCHIVED,
  BY_HAND,
  REQUEST_COLUMNS,
  requestEvent,
  type RequestType,
  type SubjectRequestRow,
} from './subject-request.row.js';
import { SHOWN, toSubjectRequestDto, type ShownRow } from './to-subject-request-dto.js';

const ALL = `${SHOWN} WHERE organization_id = $1`;
const BY_ID = `${ALL} AND id = $2`;
const LOCK = `SELECT ${REQUEST_COLUMNS} FROM subject_requests WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE`;

const INSERT = `
  INSERT INTO subject_requests (organization_id, id, type, state, contact_id, jurisdiction, received_at, due_at, note,
                                locale, corrections, purposes, correlation_id, created_at, updated_at)
  VALUES ($1, $2, $3, 'verifying', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
  RETURNING ${REQUEST_COLUMNS}`;

const CHANGED = `updated_at = greatest($3, updated_at + interval '1 ms')`;
const OF_ONE = `WHERE organization_id = $1 AND id = $2 RETURNING ${REQUEST_COLUMNS}`;

const VERIFY = `
  UPDATE subject_requests
     SET state = 'in_progress', verification_method = $4, verification_reference = $5, verified_at = $6, ${CHANGED}
   ${OF_ONE}`;

/** Before a new due date it is warned anew. */
const EXTEND = `
  UPDATE subject_requests
     SET extension_reason = $4, extended_at = $3, due_at = $5, warned_days = NULL, ${CHANGED} ${OF_ONE}`;

const REJECT = `
  UPDATE subject_requests
     SET state = 'rejected', rejection_ground = $4, rejection_detail = $5, corrections = NULL, completed_at = $3,
         ${CHANGED}
   ${OF_ONE}`;

const HOLDER = `
  SELECT identity.contact_id AS id FROM identities AS identity
   WHERE identity.organization_id = $1 AND type = $2 AND normal_value = ANY($3::text[])
     AND yielded_at IS NULL
   ORDER BY array_position($3::text[], normal_value) LIMIT 1`;

/** Two that are opened at once see each other. */
const OPENING = `SELECT pg_advisory_xact_lock(hashtextextended('subject-requests:' || $1::text || $2::text, 0))`;

const OPEN = `
  SELECT id FROM subject_requests
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND type = $3 AND state IN ('verifying', 'in_progress')
   ORDER BY created_at, id LIMIT 1`;

/** Written for each change, so that the read of one and the write of another never mix. */
interface TaggedRequest {
  readonly body: SubjectRequestDto;
  readonly etag: string;
}

/** The requests of data subjects, from their reception to their end (core.md §10). */
@Injectable()
export class SubjectRequestsService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly erasure: ErasureStart,
    private readonly archive: ArchiveStart,
    private readonly byHand: ManualCompletion,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly signal: ErasureSignal,
    private readonly clock: Clock,
  ) {}

  async list(context: RequestContext, query: ListQuery): Promise<Page<SubjectRequestDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const resolved = await this.lookup.resolveToFamilies(tx, query);
      const parameters = [tx.organizationId];
      const now = this.clock.now();
      const map = (row: ShownRow): SubjectRequestDto => toSubjectRequestDto(row, now, context);
      return pageOf<ShownRow, SubjectRequestDto>(tx, ALL, resolved, { parameters, map });
    });
  }

  /** @throws Problem `not_found` */
  get(context: RequestContext, id: string): Promise<TaggedRequest> {
    return this.database.inOrganization(context, (tx) => this.tagged(tx, context, id));
  }

  /**
   * Opens a request, and begins it where the person is verified already.
   * @throws Problem `validation_failed`, `reference_not_found`; `invalid_state` where an
   * archive is asked for that is open already; `dependency_unavailable` when events keep the contact for seconds
   */
  create(context: RequestContext, body: CreateSubjectRequestDto): Promise<TaggedRequest> {
    const now = this.clock.now();
    demandSubject(body);
    demandContent(body);
    const receivedAt = demandPast(body.received_at, '/received_at', now);
    const verifiedAt = demandPast(body.verification?.verified_at, '/verification/verified_at', now);
    const { jurisdiction = 'CL', note = null, locale = null, type, purposes = null } = body;
    const corrections = body.corrections ? JSON.stringify(body.corrections) : null;
    return this.database.inOrganization(context, async (tx) => {
      const contactId = await this.subjectOf(tx, body);
      // What an erasure takes is there before it, or finds nobody.
      if (type !== 'erasure') await this.demandStanding(tx, contactId);
      if (ARCHIVED.includes(type)) await this.demandNoneOpen(tx, type, contactId);
      const due = dueAt(jurisdiction, receivedAt);
      const [row] = await tx.query<SubjectRequestRow>(INSERT, [
        ...[tx.organizationId, newId(), type, contactId, jurisdiction, receivedAt, due, note],
        ...[locale, corrections, purposes, context.correlationId, now],
      ]);
      const opened = demandRow(row);
      await this.record(tx, context, opened, ['state', 'type', 'contact_id']);
      await this.outbox.append(tx, requestEvent(tx.organizationId, opened, 'received'));
      const { verification } = body;
      if (verification) await this.verify(tx, context, opened, verification, verifiedAt);
      return this.tagged(tx, context, opened.id);
    });
  }

  /**
   * Verifies, extends, rejects or completes.
   * @throws Problem `not_found`, `validation_failed`, `invalid_state`, `etag_mismatch`
   */
  update(context: RequestContext, id: string, body: UpdateSubjectRequestDto): Promise<TaggedRequest> {
    const { verification, extension_reason: reason, rejection, completion } = body;
    const given = Object.values(body).filter((value) => value !== undefined);
    if (given.length > 1) {
      const detail = 'A change is one of verification, extension_reason, rejection and completion.';
      throw Problem.validation([{ pointer: '', code: 'not_allowed', detail }]);
    }
    const verifiedAt = demandPast(verification?.verified_at, '/verification/verified_at', this.clock.now());
    return this.database.inOrganization(context, async (tx) => {
      if (completion) await this.byHand.lockSubject(tx, await one(tx, BY_ID, id));
      const row = await one(tx, LOCK, id);
      requireMatch(context.ifMatch, tagOf(row));
      if (given.length === 0) return this.tagged(tx, context, id);
      let changed: SubjectRequestRow;
      if (verification)
        changed = await this.verify(tx, context, demandVerifying(row), verification, verifiedAt);
      else if (rejection) changed = await this.reject(tx, demandRejectable(row), rejection);
      else if (completion) changed = await this.byHand.complete(tx, context, row, completion.outcome);
      else changed = await this.extend(tx, row, reason ?? '');
      await this.record(tx, context, changed, Object.keys(body));
      return this.tagged(tx, context, id);
    });
  }

  private async verify(
    tx: Transaction,
    context: RequestContext,
    { id, contact_id: contactId, correlation_id: correlationId }: SubjectRequestRow,
    { method, reference = null }: VerificationInputDto,
    verifiedAt: Date,
  ): Promise<SubjectRequestRow> {
    const now = this.clock.now();
    const [row] = await tx.query<SubjectRequestRow>(VERIFY, [
      ...[tx.organizationId, id, now, method, reference, verifiedAt],
    ]);
    const verified = demandRow(row);
    if (verified.type === 'erasure') {
      await this.erasure.begin(tx, { id, contactId, correlationId });
      tx.afterCommit(() => this.signal.raise());
    } else if (ARCHIVED.includes(verified.type)) await this.archive.begin(tx, context, verified);
    return verified;
  }

  private async extend(tx: Transaction, row: SubjectRequestRow, reason: string): Promise<SubjectRequestRow> {
    const isOpen = row.state === 'verifying' || row.state === 'in_progress';
    if (!isOpen) throw new Problem('invalid_state', { detail: `The request is ${row.state}.` });
    if (row.extended_at) throw new Problem('invalid_state', { detail: 'The request was extended once.' });
    const due = extendedDueAt(row.jurisdiction, row.due_at);
    const now = this.clock.now();
    const [extended] = await tx.query<SubjectRequestRow>(EXTEND, [
      tx.organizationId,
      row.id,
      now,
      reason,
      due,
    ]);
    await this.outbox.append(tx, requestEvent(tx.organizationId, demandRow(extended), 'extended'));
    return demandRow(extended);
  }

  private async reject(
    tx: Transaction,
    row: SubjectRequestRow,
    { ground, detail = null }: RejectionInputDto,
  ): Promise<SubjectRequestRow> {
    const now = this.clock.now();
    const [rejected] = await tx.query<SubjectRequestRow>(REJECT, [
      ...[tx.organizationId, row.id, now, ground, detail],
    ]);
    await this.outbox.append(tx, requestEvent(tx.organizationId, demandRow(rejected), 'rejected'));
    return demandRow(rejected);
  }

  /** One archive of a kind is made of a person at a time, whichever of their contacts is named. */
  private async demandNoneOpen(tx: Transaction, type: RequestType, contactId: string): Promise<void> {
    await tx.query(OPENING, [tx.organizationId, contactId]);
    const family = await this.lookup.familyOf(tx, contactId);
    const [open] = await tx.query<{ id: string }>(OPEN, [tx.organizationId, family, type]);
    if (!open) return;
    const detail = `A request of this type is open for this person: ${open.id}.`;
    throw new Problem('invalid_state', { detail, members: { conflicting_id: open.id } });
  }

  /** The contact that the body names, or its survivor. */
  private async subjectOf(tx: Transaction, body: CreateSubjectRequestDto): Promise<string> {
    const pointer = body.identity ? '/identity' : '/contact_id';
    const id = body.identity ? await holderOf(tx, body.identity) : body.contact_id;
    const holder = id === undefined ? undefined : await this.holderOf(tx, id);
    if (holder !== undefined) return holder;
    throw nobody(pointer);
  }

  private async demandStanding(tx: Transaction, contactId: string): Promise<void> {
    if (!(await this.lookup.lockHolder(tx, contactId))) throw nobody('/contact_id');
  }

  /** Without a lock: an erasure that begins at once takes those of events first. */
  private async holderOf(tx: Transaction, id: string): Promise<string | undefined> {
    try {
      const contact = await this.lookup.read(tx, id);
      return 'survivorId' in contact ? contact.survivorId : contact.ids[0];
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  private async tagged(tx: Transaction, context: RequestContext, id: string): Promise<TaggedRequest> {
    const row = await one<ShownRow>(tx, BY_ID, id);
    return { body: toSubjectRequestDto(row, this.clock.now(), context), etag: tagOf(row) };
  }

  private async record(
    tx: Transaction,
    context: RequestContext,
    { id }: SubjectRequestRow,
    changedFields: string[],
  ): Promise<void> {
    await this.audit.record(tx, context, {
      action: 'core.subject_requests.create',
      resource: { type: 'subject_requests', id },
      changedFields,
    });
  }
}

async function one<Row extends SubjectRequestRow>(
  tx: Transaction,
  statement: string,
  id: string,
): Promise<Row> {
  const [row] = await tx.query<Row>(statement, [tx.organizationId, id]);
  if (!row) throw new Problem('not_found');
  return row;
}

async function holderOf(
  tx: Transaction,
  { type, value }: NonNullable<CreateSubjectRequestDto['identity']>,
): Promise<string | undefined> {
  const forms = identityForms(type, value, null);
  const [holder] = await tx.query<{ id: string }>(HOLDER, [tx.organizationId, type, forms]);
  if (!holder && normalIdentity(type, value, null) === undefined) {
    const detail = `The value is no ${type.replaceAll('_', ' ')}.`;
    throw Problem.validation([{ pointer: '/identity/value', code: 'invalid_format', detail }]);
  }
  return holder?.id;
}

function demandSubject({ contact_id: contactId, identity }: CreateSubjectRequestDto): void {
  if ((contactId === undefined) !== (identity === undefined)) return;
  const detail = 'Exactly one of contact_id and identity is needed.';
  const code = identity === undefined ? 'required' : 'not_allowed';
  throw Problem.validation([{ pointer: '/contact_id', code, detail }]);
}

function demandPast(given: string | undefined, pointer: string, now: Date): Date {
  const at = given === undefined ? now : new Date(given);
  if (at >= EARLIEST && at <= now) return at;
  const detail = at > now ? 'It lies in the future.' : `It lies before ${EARLIEST.toISOString()}.`;
  const error: FieldError = { pointer, code: 'out_of_range', detail };
  throw Problem.validation([error]);
}

function demandVerifying(row: SubjectRequestRow): SubjectRequestRow {
  if (row.state === 'verifying') return row;
  throw new Problem('invalid_state', { detail: `The request is ${row.state}.` });
}

/** What staff carries out can be refused until it is done; what the platform has begun cannot. */
function demandRejectable(row: SubjectRequestRow): SubjectRequestRow {
  return row.state === 'in_progress' && BY_HAND.includes(row.type) ? row : demandVerifying(row);
}

function nobody(pointer: string): Problem {
  const detail = 'There is no such contact.';
  const errors = [{ pointer, code: 'reference_not_found', detail } as const];
  return new Problem('reference_not_found', { detail, errors });
}

function demandRow(row: SubjectRequestRow | undefined): SubjectRequestRow {
  if (!row) throw new TypeError('A request that is locked is gone');
  return row;
}

function tagOf({ updated_at: updatedAt }: SubjectRequestRow): string {
  return versionTag({ updatedAt });
}
