import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { SegmentFollower } from '../../following/segment-follower.js';
import type { ConsentEventRow, ConsentStatus, Said } from '../../vocabulary/consents/consent.js';
import { BY_MERGE, ConsentsRepository, type ConsentPair, type DecidedState } from './consents.repository.js';

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
interface RecordingOptions {
  /** Why segments may change by it: a merge moves whoever it moves without a message. */
  readonly cause?: 'consent' | 'merge';
  /** What others were told last, where that is not what the subject's own history said. */
  readonly toldBefore?: ConsentStatus;
  /** When a merge was carried out or undone that says it; else the present. */
  readonly recordedAt?: Date;
}

/** A consent that has been checked and can be recorded; what has no time is said when it is recorded. */
export type PreparedConsent = Omit<ConsentEventRow, 'contact_id' | 'occurred_at' | 'recorded_at'> & {
  readonly occurred_at: Date | null;
};

/** A consent, and whose it is. */
export interface NewRecord {
  readonly subject: ConsentSubject;
  readonly prepared: PreparedConsent;
}

interface AppendOptions {
  readonly cause: 'consent' | 'merge' | 'import';
  readonly toldBefore?: ConsentStatus | undefined;
  readonly recordedAt?: Date | undefined;
  readonly onlyNews?: boolean;
  /** The present of all that is recorded together, where it is not looked for. */
  readonly present?: Date;
}

/** An event to append, with all ids of its contact. */
interface Recorded {
  readonly ids: readonly string[];
  readonly row: ConsentEventRow;
  readonly before: DecidedState | undefined;
}

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
  prepare(context: AuditContext, given: NewConsent): PreparedConsent {
    const now = this.clock.now();
    const errors = errorsOf(given, now, '');
    if (errors.length > 0) throw Problem.validation(errors);
    return this.prepared(context, given, now);
  }

  /** The same of a list that stands at `pointer` in the body, all errors told at once. @throws Problem as `prepare` */
  prepareAll(context: AuditContext, given: readonly NewConsent[], pointer: string): PreparedConsent[] {
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
    { cause = 'consent', toldBefore, recordedAt }: RecordingOptions = {},
  ): Promise<ConsentEventRow> {
    const options = { cause, toldBefore, recordedAt };
    const [row] = await this.append(tx, context, [{ subject, prepared }], options);
    if (!row) throw new Error('A consent was recorded and cannot be found');
    await this.audit.record(tx, context, {
      action: 'core.consents.write',
      resource: { type: 'consents', id: row.id },
      changedFields: ['purpose', 'channel', 'status'],
    });
    return row;
  }

  /**
   * As `record`, of many contacts in a few statements; audit is the caller's. What holds already by the same notice is not
   * appended again: a file that comes every night would fill the history. A refusal that is said for the first time since a
   * merge is.
   * @returns those that were appended
   */
  async recordAll(
    tx: Transaction,
    context: AuditContext,
    given: readonly NewRecord[],
  ): Promise<ConsentEventRow[]> {
    const recorded: ConsentEventRow[] = [];
    const present = await this.presentOf(
      tx,
      given.flatMap(({ subject }) => subject.ids),
    );
    // What a contact says next is seen after what it said before.
    for (let rest = given; rest.length > 0;) {
      const turn = firstOfEach(rest);
      recorded.push(
        ...(await this.append(tx, context, [...turn], { cause: 'import', onlyNews: true, present })),
      );
      rest = rest.filter((one) => !turn.has(one));
    }
    return recorded;
  }

  /**
   * The present of these contacts, which the caller has locked: later than all that was said, by whatever clock.
   * @param steps so many milliseconds later at least, where that many things are said in their order
   */
  async presentOf(tx: Transaction, ids: readonly string[], steps = 1, now = this.clock.now()): Promise<Date> {
    const latest = await this.consents.latest(tx, ids);
    return latest ? new Date(Math.max(now.getTime(), latest.getTime() + steps)) : now;
  }

  /** The present, not before the merges of these contacts, by whatever clock: what is said now is said since. */
  private async sinceMerges(tx: Transaction, given: readonly NewRecord[]): Promise<Date> {
    const now = this.clock.now();
    const ids = given.flatMap(({ subject }) => (subject.ids.length > 1 ? subject.ids : []));
    const mergedAt = ids.length > 0 ? await this.consents.mergedAt(tx, ids) : undefined;
    return mergedAt && mergedAt > now ? mergedAt : now;
  }

  /** At most one of each contact. */
  private async append(
    tx: Transaction,
    context: AuditContext,
    given: readonly NewRecord[],
    options: AppendOptions,
  ): Promise<ConsentEventRow[]> {
    const { cause, toldBefore, onlyNews = false } = options;
    const recordedAt = options.recordedAt ?? (await this.sinceMerges(tx, given));
    const undated = given.filter(({ prepared }) => prepared.occurred_at === null);
    const ids = undated.flatMap(({ subject }) => subject.ids);
    const present = options.present ?? (await this.presentOf(tx, ids, 1, recordedAt));
    const all = given.map(({ subject, prepared }) => ({
      ids: subject.ids,
      isDated: prepared.occurred_at !== null,
      row: {
        ...prepared,
        contact_id: subject.contactId,
        occurred_at: prepared.occurred_at ?? present,
        recorded_at: recordedAt,
      },
    }));
    // Others may have written while this one waited for the lock, by clocks that go before ours.
    const latest = Math.max(...all.map(({ row }) => row.occurred_at.getTime()));
    const now = new Date(Math.max(this.clock.now().getTime(), latest));
    const befores = await this.consents.statesOf(tx, all.map(pairOf), now);
    const asked = all.map((one, at) => ({ ...one, before: befores[at] }));
    const said = onlyNews ? await this.newsOf(tx, asked) : asked;
    if (said.length === 0) return [];
    await this.consents.append(tx, rowsOf(said), now);
    const news = [...said, ...(await this.refusedAgain(tx, said, now))];
    const afters = await this.consents.statesOf(tx, news.map(pairOf), now);
    const events = news.map(({ row, before }, at): NewDomainEvent => {
      const after = afters[at];
      if (!after) throw new Error('A consent was recorded and cannot be found');
      return recordedEvent(context, row, after, toldBefore ?? before?.status ?? null);
    });
    await this.outbox.append(tx, events);
    const { correlationId } = context;
    await this.segments.contactsChanged(
      tx,
      news.map(({ row }) => ({ contactId: row.contact_id, cause, purposes: [row.purpose], correlationId })),
    );
    return rowsOf(said);
  }

  /** Without what holds already; but what is refused now is refused by both of a merge, whatever held before it. */
  private async newsOf<R extends Recorded & { isDated: boolean }>(
    tx: Transaction,
    asked: readonly R[],
  ): Promise<R[]> {
    const merged = asked.filter(
      (one) =>
        isSaidAlready(one) &&
        !one.isDated &&
        one.row.status !== 'granted' &&
        // What calls itself so is never found among what was said, and would be said anew each time.
        one.row.method !== BY_MERGE &&
        one.ids.length > 1,
    );
    const before = await this.consents.beforeMerges(tx, merged.map(pairOf));
    const again = new Set(before.map((at) => merged[at]));
    return asked.filter((one) => !isSaidAlready(one) || again.has(one));
  }

  /**
   * What a merge has repeated is dated later than the person said it. A refusal that is later than all that the person
   * granted must hold against it, so it is said once more, as of that repetition.
   */
  private async refusedAgain(tx: Transaction, said: readonly Recorded[], now: Date): Promise<Recorded[]> {
    const refusals = said.filter(({ row }) => row.status !== 'granted');
    const found = await this.consents.onlyRepeated(
      tx,
      refusals.map((one) => ({ ...pairOf(one), at: one.row.occurred_at })),
    );
    const pairs = found.flatMap(({ place, channel }) => {
      const refusal = refusals[place];
      return refusal ? [{ ...refusal, row: { ...refusal.row, channel } }] : [];
    });
    const states = await this.consents.statesOf(tx, pairs.map(pairOf), now);
    const again = pairs.flatMap((one, at): Recorded[] => {
      const before = states[at];
      if (before?.status !== 'granted') return [];
      // At the same instant the strictest holds.
      const row = { ...one.row, id: newId(), method: BY_MERGE, occurred_at: before.occurred_at };
      return [{ ids: one.ids, row, before }];
    });
    if (again.length > 0) await this.consents.append(tx, rowsOf(again), now);
    return again;
  }

  private prepared(context: AuditContext, given: NewConsent, now: Date): PreparedConsent {
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
      // What is said now is said when the contact is free for it, not when the call came.
      occurred_at: occurrence(given, now) < now ? occurrence(given, now) : null,
      // The organization decides about the data; the platform only processes it.
      controller: context.organizationId,
      actor_type: actor.type,
      actor_id: actor.id,
      impersonator_id: actor.impersonatorId ?? null,
      correlation_id: context.correlationId,
    };
  }
}

function pairOf({ ids, row }: Pick<Recorded, 'ids' | 'row'>): ConsentPair {
  return { ids, purpose: row.purpose, channel: row.channel };
}

function rowsOf(recorded: readonly Recorded[]): ConsentEventRow[] {
  return recorded.map(({ row }) => row);
}

function firstOfEach(given: readonly NewRecord[]): Set<NewRecord> {
  const first = new Map<string, NewRecord>();
  for (const one of given) if (!first.has(one.subject.contactId)) first.set(one.subject.contactId, one);
  return new Set(first.values());
}

/** A refusal that is dated later is news: it holds against a grant of the time between that is yet to come. */
function isSaidAlready({ row, before, isDated }: Recorded & { isDated: boolean }): boolean {
  if (before?.status !== row.status || before.notice_version !== row.notice_version || before.divided)
    return false;
  return row.status === 'granted' || !isDated || before.occurred_at >= row.occurred_at;
}

function recordedEvent(
  { organizationId, correlationId }: AuditContext,
  { contact_id, purpose, channel }: ConsentEventRow,
  after: DecidedState,
  previous: ConsentStatus | null,
): NewDomainEvent {
  return {
    type: 'core.consent.recorded.v1',
    organizationId,
    key: contact_id,
    subject: `contacts/${contact_id}`,
    correlationId,
    time: after.occurred_at.toISOString(),
    data: { contact_id, purpose, channel, status: after.status, previous },
  };
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
