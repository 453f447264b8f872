import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, ItemJob, SigningKeys, type WorkerTransaction } from '@customer-platform/database';
import { signReceipt } from '@customer-platform/erasure';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { SuggestionsRepository } from '../../people/suggestions/suggestions.repository.js';
import { ErasedIdentifiers, type Identifier } from '../../blocklist/erased-identifiers.js';
import { RequestsEnd } from '../requests-end.js';
import { ErasureSignal } from './erasure.signal.js';
import { Receipts } from './receipts.js';
import { SoughtPerson } from './sought-person.js';
import { FIRST_STEP, runPiece, STEP_NAMES, type Position, type StepName } from './steps.js';

/** Its name in metrics and log lines. */
const JOB = 'contact-erasure';
const LOOK_EVERY_MS = 500;
/** While a module has not answered it is asked again so often: its topic forgets a request after a week. */
const ASK_AGAIN_MS = 86_400_000;
/** No transaction of the platform takes so long: what is older is one that somebody forgot. */
const FENCE_LASTS_MS = 3_600_000;

/**
 * The second round begins when what was under way has ended: transactions, and calls whose answer is kept once they are
 * through, at the latest when their lease ends. They take turns: one of a person with a million events holds up nobody else's.
 * Those of the organization whose turn it is, by a range that no index by time alone has: it has everybody's.
 */
const READY = `
  step <> 'done' AND organization_id BETWEEN turn.organization_id AND turn.organization_id
     AND subject_request_id <> ALL($1::uuid[])
     AND (step <> 'fence' OR fence IS NULL OR created_at < $2
          OR fence::xid8 < pg_snapshot_xmin(pg_current_snapshot()) AND NOT EXISTS (
               SELECT FROM idempotency_keys AS open
                WHERE open.organization_id = contact_erasures.organization_id AND open.status IS NULL
                  AND open.created_at <= contact_erasures.created_at AND open.lease_until > $4))
     AND (step <> 'asked' OR asked_at < $3)`;
/** Walks from an erasure of one organization to that of the next, and asks of each for its first that is ready. */
export const OWNERS = `
  WITH RECURSIVE turn AS (
    (SELECT organization_id, moved_at FROM contact_erasures WHERE step <> 'done'
      ORDER BY organization_id, moved_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.moved_at FROM turn, LATERAL (
      SELECT organization_id, moved_at FROM contact_erasures
       WHERE organization_id > turn.organization_id AND step <> 'done'
       ORDER BY organization_id, moved_at LIMIT 1) AS next)
  SELECT own.organization_id FROM turn, LATERAL (
    SELECT organization_id, moved_at FROM contact_erasures
     WHERE ${READY} ORDER BY organization_id, moved_at LIMIT 1) AS own
   ORDER BY own.moved_at`;
export const NEXT = `
  SELECT own.* FROM unnest($5::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, subject_request_id, contact_id, correlation_id, step, round, cursor, fence, contact_ids,
           counts, jsonb_array_length(identifiers) AS identifier_count
      FROM contact_erasures
     WHERE ${READY} ORDER BY organization_id, moved_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS own
   LIMIT 1`;

const SAVE = `
  UPDATE contact_erasures SET step = $3, round = $4, cursor = $5, cursor_id = NULL, counts = $6, moved_at = now()
   WHERE organization_id = $1 AND subject_request_id = $2`;

const SET_FENCE = `
  UPDATE contact_erasures SET step = 'fence', fence = pg_current_xact_id()::text
   WHERE organization_id = $1 AND subject_request_id = $2`;

const IDENTIFIERS = `
  SELECT identifiers FROM contact_erasures WHERE organization_id = $1 AND subject_request_id = $2`;

/** Nothing of whom it was is needed any more. */
const FORGET = `
  UPDATE contact_erasures SET step = 'asked', identifiers = '[]', contact_ids = '{}', cursor = NULL, cursor_id = NULL
   WHERE organization_id = $1 AND subject_request_id = $2`;

/** Of every request to erase the person, whatever became of it. */
const FORGET_WORDS = `
  UPDATE subject_requests
     SET note = NULL, verification_reference = NULL, rejection_detail = NULL,
         updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND type = 'erasure'
     AND (id = $2 OR contact_id = (SELECT contact_id FROM subject_requests WHERE organization_id = $1 AND id = $2)
                     AND num_nonnulls(note, verification_reference, rejection_detail) > 0)`;

const ASKED = `UPDATE contact_erasures SET asked_at = $3 WHERE organization_id = $1 AND subject_request_id = $2`;

const VERSIONS = `SELECT id, version FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id`;

interface ErasureRow {
  organization_id: string;
  subject_request_id: string;
  contact_id: string;
  correlation_id: string;
  /** A step; `fence` between the two rounds, `asked` until all modules have answered, then `done`. */
  step: StepName | 'fence' | 'receipt' | 'asked';
  round: number;
  cursor: Cursor | null;
  fence: string | null;
  contact_ids: string[];
  identifier_count: number;
  counts: Record<string, number>;
}

/** How far a step of a round came; of another one it says nothing. */
interface Cursor {
  readonly step: StepName;
  readonly round: number;
  readonly position: Position;
}

/** Whom an erasure seeks. Identifiers are only ever taken away from one, so that their number says which they are. */
interface Sought {
  readonly identifiers: readonly Identifier[];
  readonly person: SoughtPerson;
}

/** Of so many erasures what is sought is kept between pieces. */
const SOUGHT_KEPT = 8;

/**
 * Carries out erasures, a piece at a time: each piece and how far it came are one transaction, so that a process may be
 * killed at any moment and another goes on there. Two rounds: what a transaction was writing when the person was taken out
 * of their contacts, the second one finds, which waits until all transactions of that time have ended. Runs where
 * PROCESS_ROLE is not api.
 */
@Injectable()
export class ErasureRunner extends ItemJob<ErasureRow> {
  private readonly sought = new Map<string, Sought>();

  constructor(
    database: Database,
    private readonly keys: SigningKeys,
    private readonly outbox: Outbox,
    private readonly receipts: Receipts,
    private readonly blocklist: ErasedIdentifiers,
    private readonly requests: RequestsEnd,
    private readonly lookup: ContactLookup,
    private readonly suggestions: SuggestionsRepository,
    signal: ErasureSignal,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: JOB, takes: 'rows of contact_erasures', everyMs: LOOK_EVERY_MS, wokenBy: signal },
      database,
      clock,
      tenants,
    );
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<ErasureRow, 'organization_id'>[]> {
    return tx.query(OWNERS, [waiting, ...this.times()]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<ErasureRow | undefined> {
    const [row] = await tx.query<ErasureRow>(NEXT, [waiting, ...this.times(), organizationIds]);
    return row;
  }

  /** Returns the times before which a fence is over and an asking is repeated, and the present. */
  private times(): Date[] {
    const now = this.clock.now().getTime();
    return [now - FENCE_LASTS_MS, now - ASK_AGAIN_MS, now].map((time) => new Date(time));
  }

  protected nameOf(row: ErasureRow): string {
    return row.subject_request_id;
  }

  protected async work(tx: WorkerTransaction, row: ErasureRow): Promise<void> {
    const key = [row.organization_id, row.subject_request_id];
    switch (row.step) {
      case 'fence':
        if (row.fence === null) await tx.query(SET_FENCE, key);
        else await tx.query(SAVE, [...key, FIRST_STEP, 2, null, row.counts]);
        return;
      case 'receipt':
        return this.finish(tx, row);
      case 'asked':
        await tx.query(ASKED, [...key, this.clock.now()]);
        return this.outbox.append(tx, await this.requestedEvent(tx, row));
      default:
        return this.takeAway(tx, row, row.step);
    }
  }

  private async takeAway(tx: WorkerTransaction, row: ErasureRow, step: StepName): Promise<void> {
    const { organization_id: organizationId, subject_request_id: requestId, round, cursor } = row;
    const isHere = cursor?.step === step && cursor.round === round;
    const piece = await runPiece(step, tx, {
      organizationId,
      requestId,
      contactIds: row.contact_ids,
      identifiers: async () => (await this.soughtBy(tx, row)).identifiers,
      hashes: async () => this.blocklist.hashesOf(organizationId, (await this.soughtBy(tx, row)).identifiers),
      sought: async () => (await this.soughtBy(tx, row)).person,
      suggestions: this.suggestions,
      position: isHere ? cursor.position : undefined,
    });
    const { next: position, counts = {} } = piece;
    const all = { ...row.counts };
    for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count;
    const following = STEP_NAMES[STEP_NAMES.indexOf(step) + 1] ?? (round === 1 ? 'fence' : 'receipt');
    const after = position
      ? { step, cursor: { step, round, position } satisfies Cursor }
      : { step: following };
    const { step: then, cursor: there = null } = after;
    await tx.query(SAVE, [organizationId, requestId, then, round, there && JSON.stringify(there), all]);
  }

  /** Read once for all pieces that seek: it may be long. */
  private async soughtBy(tx: WorkerTransaction, row: ErasureRow): Promise<Sought> {
    const name = `${row.subject_request_id} ${row.identifier_count}`;
    const known = this.sought.get(name);
    if (known) return known;
    const [read] = await tx.query<{ identifiers: Identifier[] }>(IDENTIFIERS, [
      row.organization_id,
      row.subject_request_id,
    ]);
    const identifiers = read?.identifiers ?? [];
    const sought = { identifiers, person: new SoughtPerson(row.contact_ids, identifiers) };
    const [oldest] = this.sought.keys();
    if (oldest !== undefined && this.sought.size >= SOUGHT_KEPT) this.sought.delete(oldest);
    this.sought.set(name, sought);
    return sought;
  }

  /** Core's part is done: its own receipt, and what it tells of the contacts. */
  private async finish(tx: WorkerTransaction, row: ErasureRow): Promise<void> {
    const { organization_id: organizationId, subject_request_id: requestId, counts } = row;
    const now = this.clock.now();
    const signature = await signReceipt(this.keys, {
      module: 'core',
      organization_id: organizationId,
      subject_request_id: requestId,
      counts,
      completed_at: now.toISOString(),
    });
    const contacts = await tx.query<{ id: string; version: number }>(VERSIONS, [
      organizationId,
      row.contact_ids,
    ]);
    await this.outbox.append(
      tx,
      contacts.map((contact) => erasedEvent(row, contact)),
    );
    await tx.query(FORGET, [organizationId, requestId]);
    for (const name of this.sought.keys()) if (name.startsWith(requestId)) this.sought.delete(name);
    // Whoever began the erasure may be of the release before, which ends fewer types and leaves words in them.
    await this.requests.ofErased(tx, row.contact_ids);
    await tx.query(FORGET_WORDS, [organizationId, requestId, now]);
    await this.receipts.keepOwn(tx, { requestId, counts, signature });
  }

  /** Who is erased is merged, and parted, no more: their family is what it was at the beginning. */
  private async requestedEvent(tx: WorkerTransaction, row: ErasureRow): Promise<NewDomainEvent> {
    const { organization_id: organizationId, contact_id: contactId, correlation_id: correlationId } = row;
    const families = await this.lookup.familiesOf(tx, [contactId]);
    return {
      type: 'core.erasure.requested.v1',
      organizationId,
      key: contactId,
      subject: `contacts/${contactId}`,
      correlationId,
      data: {
        subject_request_id: row.subject_request_id,
        contact_id: contactId,
        contact_ids: families.get(contactId) ?? [contactId],
      },
    };
  }
}

function erasedEvent(row: ErasureRow, { id, version }: { id: string; version: number }): NewDomainEvent {
  return {
    type: 'core.contact.erased.v1',
    organizationId: row.organization_id,
    key: id,
    subject: `contacts/${id}`,
    correlationId: row.correlation_id,
    data: { contact_id: id, version, changed_fields: [], contact: null },
  };
}
