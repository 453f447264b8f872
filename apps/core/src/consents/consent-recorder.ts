import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { SegmentFollower } from '../segments/following/segment-follower.js';
import type { ConsentEventRow, ConsentStatus, Said } from './consent.js';
import { ConsentsRepository } from './consents.repository.js';

/** Clocks differ: what is dated so far ahead is taken as now (core.md §5). */
const AHEAD_MS = 60_000;

/** What is to be recorded; times as ISO text in UTC. */
export interface NewConsent {
  purpose: string;
  /** Null or absent: all channels. */
  channel?: string | null;
  status: Said;
  notice_version?: string | null;
  notice_hash?: string | null;
  method?: string | null;
  /** `consent` unless given. */
  legal_basis?: string;
  jurisdiction?: string | null;
  evidence?: Record<string, unknown> | null;
  pii_categories?: string[];
  recipients?: string[];
  storage_locations?: string[];
  retention?: string | null;
  withdrawal_method?: string | null;
  /** Now unless given. */
  occurred_at?: string;
  expires_at?: string | null;
}

/** Whose consent it is: the contact, and all ids under which its history stands. */
export interface ConsentSubject {
  readonly contactId: string;
  readonly ids: readonly string[];
}

/** What is not as usual of a recording. */
export interface RecordingOptions {
  /** Why segments may change by it: a merge moves whoever it moves without a message. */
  readonly cause?: 'consent' | 'merge';
  /** What others were told last, where that is not what the subject's own history said. */
  readonly toldBefore?: ConsentStatus;
}

/** A consent that has been checked and can be recorded. */
export type PreparedConsent = Omit<ConsentEventRow, 'contact_id'>;

/**
 * The pen of the consents. The caller holds the lock of the contact, so that what held before is what held before:
 * every path by which a consent comes in records it here.
 */
@Injectable()
export class ConsentRecorder {
  constructor(
    private readonly consents: ConsentsRepository,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly segments: SegmentFollower,
  ) {}

  /**
   * Checks what needs no look at the contact, for errors come before existence.
   * @throws Problem `occurred_at_in_future`, `validation_failed`
   */
  prepare(context: RequestContext, given: NewConsent): PreparedConsent {
    const now = this.clock.now();
    const errors = errorsOf(given, now, '');
    if (errors.length > 0) throw Problem.validation(errors);
    return this.prepared(context, given, now);
  }

  /** The same of a list that stands at `pointer` in the body, all errors told at once. @throws Problem as `prepare` */
  prepareAll(context: RequestContext, given: readonly NewConsent[], pointer: string): PreparedConsent[] {
    const now = this.clock.now();
    const errors = given.flatMap((one, at) => errorsOf(one, now, `${pointer}/${String(at)}`));
    if (errors.length > 0) throw Problem.validation(errors);
    return given.map((one) => this.prepared(context, one, now));
  }

  /**
   * Appends one event with its audit row and its domain event, which tells what holds for the pair from now on: to
   * those who keep the latest state of a pair, its time is that of the event that decides, not of the recording.
   */
  async record(
    tx: Transaction,
    context: AuditContext,
    subject: ConsentSubject,
    prepared: PreparedConsent,
    { cause = 'consent', toldBefore }: RecordingOptions = {},
  ): Promise<ConsentEventRow> {
    const row = { ...prepared, contact_id: subject.contactId };
    const pair = { purpose: row.purpose, channel: row.channel };
    // Others may have written while this one waited for the lock, by clocks that go before ours.
    const now = new Date(Math.max(this.clock.now().getTime(), row.occurred_at.getTime()));
    const before = await this.consents.stateOf(tx, subject.ids, pair, now);
    await this.consents.append(tx, row, now);
    const after = await this.consents.stateOf(tx, subject.ids, pair, now);
    if (!after) throw new Error('A consent was recorded and cannot be found');
    await this.audit.record(tx, context, {
      action: 'core.consents.write',
      resource: { type: 'consents', id: row.id },
      changedFields: ['purpose', 'channel', 'status'],
    });
    await this.outbox.append(tx, {
      type: 'core.consent.recorded.v1',
      organizationId: context.organizationId,
      key: subject.contactId,
      subject: `contacts/${subject.contactId}`,
      correlationId: context.correlationId,
      time: after.occurred_at.toISOString(),
      data: {
        contact_id: subject.contactId,
        ...pair,
        status: after.status,
        previous: toldBefore ?? before?.status ?? null,
      },
    });
    const { contactId } = subject;
    const purposes = [row.purpose];
    const { correlationId } = context;
    await this.segments.contactsChanged(tx, [{ contactId, cause, purposes, correlationId }]);
    return row;
  }

  private prepared(context: RequestContext, given: NewConsent, now: Date): PreparedConsent {
    const { actor } = context;
    return {
      id: newId(),
      purpose: given.purpose,
      channel: given.channel ?? null,
      status: given.status,
      notice_version: given.notice_version ?? null,
      notice_hash: given.notice_hash ?? null,
      method: given.method ?? null,
      legal_basis: given.legal_basis ?? 'consent',
      jurisdiction: given.jurisdiction ?? null,
      evidence: given.evidence ?? null,
      pii_categories: given.pii_categories ?? [],
      recipients: given.recipients ?? [],
      storage_locations: given.storage_locations ?? [],
      retention: given.retention ?? null,
      withdrawal_method: given.withdrawal_method ?? null,
      expires_at: given.expires_at ? new Date(given.expires_at) : null,
      occurred_at: occurrence(given, now),
      // The organization decides about the data; the platform only processes it.
      controller: context.organizationId,
      actor_type: actor.type,
      actor_id: actor.id,
      impersonator_id: actor.impersonatorId ?? null,
      correlation_id: context.correlationId,
      recorded_at: now,
    };
  }
}

function occurrence(given: NewConsent, now: Date): Date {
  const at = given.occurred_at === undefined ? now : new Date(given.occurred_at);
  return at > now ? now : at;
}

/** core.md §5: a grant needs its notice and method, and only a grant ends by itself. */
function errorsOf(given: NewConsent, now: Date, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (field: keyof NewConsent, code: FieldError['code'], detail: string): void => {
    errors.push({ pointer: `${at}/${field}`, code, detail });
  };
  if (given.occurred_at !== undefined && new Date(given.occurred_at).getTime() > now.getTime() + AHEAD_MS)
    refuse('occurred_at', 'occurred_at_in_future', '`occurred_at` lies in the future.');
  if (given.status === 'granted') {
    for (const field of ['notice_version', 'method'] as const)
      if (given[field] == null) refuse(field, 'required', `\`${field}\` is required to grant.`);
  }
  if (given.expires_at == null) return errors;
  if (given.status !== 'granted') refuse('expires_at', 'not_allowed', 'Only a grant can expire.');
  else if (new Date(given.expires_at) <= occurrence(given, now))
    refuse('expires_at', 'out_of_range', '`expires_at` must be after `occurred_at`.');
  return errors;
}
