import { Injectable } from '@nestjs/common';
import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import { Contents } from '../vocabulary/rules/contents.js';
import { passes, valueAt } from '../vocabulary/rules/values.js';
import { KEYS, type Condition, type SegmentIndex } from '../vocabulary/rules/segment-index.js';
import { SegmentIndexes } from './segment-indexes.js';
import { SegmentSignal } from './segment.signal.js';

/** Why a contact enters or leaves; the first four may trigger messages, the others never (core.md §7). */
export const CAUSES = [
  'event',
  'attribute',
  'consent',
  'time',
  'merge',
  'rule_change',
  'restore',
  'import',
] as const;

/** Why a contact enters or leaves. */
export type Cause = (typeof CAUSES)[number];

/** An event as it was stored on its contact. */
export interface StoredEvent {
  readonly organizationId: string;
  readonly id: string;
  readonly contactId: string;
  /** The name of a track; none for an identify. */
  readonly event?: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** Whether it made the contact. */
  readonly created: boolean;
  /** Fields of the contact that it changed, `attributes.<key>` for attributes. */
  readonly changedFields: readonly string[];
  /** Stored on a soft-deleted contact: it is kept for the day on which that is restored, and moves nobody now. */
  readonly onDeleted: boolean;
}

/** A change of a contact that did not come as an event. */
export interface ContactChange {
  readonly contactId: string;
  readonly cause: Exclude<Cause, 'event' | 'time'>;
  /** What changed: fields of the contact, `attributes.<key>` for attributes. Anything may have, unless given. */
  readonly fields?: readonly string[];
  /** The purposes about which something was said. */
  readonly purposes?: readonly string[];
  /** The contact is no more: also in soft-deleted segments nothing of it is to stay. */
  readonly gone?: boolean;
  readonly correlationId: string;
}

/** Two contacts that became one, or two again; their events have moved already. */
interface FollowedMerge {
  readonly survivorId: string;
  readonly mergedId: string;
  readonly together: boolean;
  readonly correlationId: string;
}

interface Match {
  readonly condition: Condition;
  readonly event: StoredEvent;
}

interface QueuedChange {
  readonly organizationId: string;
  readonly contactId: string;
  readonly cause: Cause;
  readonly touched: readonly string[];
  readonly correlationId: string;
  readonly eventId: string | null;
}

const KEEP_MATCHES = `
  INSERT INTO segment_matches (organization_id, condition_id, contact_id, occurred_at, event_id)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::uuid[])
   ORDER BY 1, 2, 3, 4
  ON CONFLICT DO NOTHING`;

/** Until the transaction ends nobody evaluates the organization; the evaluator's own lock. */
const EVALUATOR_DONE = `SELECT pg_advisory_xact_lock(hashtextextended('segments:evaluate:' || $1::text, 0))`;

/** What counts are counted from stands where its events stand: $2 gives to $3 what is not, or no longer, its own. */
const MOVE_MATCHES = `
  WITH moved AS (
    DELETE FROM segment_matches AS match USING segment_conditions AS condition, events AS event
     WHERE match.organization_id = $1 AND condition.organization_id = $1 AND event.organization_id = $1
       AND match.condition_id = condition.id AND match.contact_id = $2 AND event.id = match.event_id
       AND event.contact_id = $3
    RETURNING match.condition_id, match.occurred_at, match.event_id)
  INSERT INTO segment_matches (organization_id, condition_id, contact_id, occurred_at, event_id)
  SELECT $1, condition_id, $3, occurred_at, event_id FROM moved
  ON CONFLICT DO NOTHING`;

const QUEUE = `
  INSERT INTO segment_changes (organization_id, contact_id, cause, touched, correlation_id, event_id)
  SELECT organization_id, contact_id, cause, ARRAY(SELECT jsonb_array_elements_text(touched::jsonb)), correlation_id, event_id
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[]) WITH ORDINALITY
      AS change (organization_id, contact_id, cause, touched, correlation_id, event_id, place)
   ORDER BY place`;

/**
 * Notes what changed of contacts, in the transaction of the change, so that their segments follow. Only what some
 * rule asks for is noted: an organization without segments pays one look.
 */
@Injectable()
export class SegmentFollower {
  constructor(
    private readonly indexes: SegmentIndexes,
    private readonly signal: SegmentSignal,
  ) {}

  /** Events of one or more organizations, those of each in the order in which they were stored. */
  async eventsStored(tx: WorkerTransaction, events: readonly StoredEvent[]): Promise<void> {
    if (events.length === 0) return;
    const indexes = await this.indexes.ofAll(
      tx,
      events.map(({ organizationId }) => organizationId),
    );
    const matches: Match[] = [];
    const changes: QueuedChange[] = [];
    for (const event of events) {
      const index = indexes.get(event.organizationId);
      if (!index) continue;
      const matched = matchesOf(index, event);
      matches.push(...matched);
      const change = changeOf(index, event, matched);
      if (change) changes.push(change);
    }
    await keepMatches(tx, matches);
    await this.queue(tx, changes);
  }

  /** Contacts that were created, changed, soft-deleted or restored, whose consents changed, that were merged or parted. */
  async contactsChanged(tx: Transaction, changes: readonly ContactChange[]): Promise<void> {
    if (changes.length === 0) return;
    const index = await this.indexes.held(tx);
    if (!index) return;
    const { organizationId } = tx;
    const followed = index.empty ? changes.filter(({ gone }) => gone) : changes;
    await this.queue(
      tx,
      followed.flatMap(({ contactId, cause, fields, purposes, correlationId }) => {
        const touched =
          fields || purposes
            ? index.known([...(fields ?? []).map(KEYS.field), ...(purposes ?? []).map(KEYS.purpose)])
            : [KEYS.all];
        return touched.length > 0
          ? { organizationId, contactId, cause, touched, correlationId, eventId: null }
          : [];
      }),
    );
  }

  /** Contacts that were merged, or parted again; nothing that follows from it leads to a message. */
  async contactsMerged(tx: Transaction, merge: FollowedMerge): Promise<void> {
    const { survivorId, mergedId, together, correlationId } = merge;
    if (!(await this.indexes.of(tx))) return;
    // An evaluation under way may have read an event where it stood, and keep there that it matches.
    await tx.query(EVALUATOR_DONE, [tx.organizationId]);
    const [from, to] = together ? [mergedId, survivorId] : [survivorId, mergedId];
    await tx.query(MOVE_MATCHES, [tx.organizationId, from, to]);
    const both = [survivorId, mergedId];
    await this.contactsChanged(
      tx,
      both.map((contactId) => ({ contactId, cause: 'merge', correlationId })),
    );
  }

  /** Has the contact of a stored event evaluated once more: the replay of what failed after the event was stored. */
  async followAgain(tx: Transaction, event: { id: string; contactId: string }): Promise<void> {
    const index = await this.indexes.of(tx);
    if (!index) return;
    const { id, contactId } = event;
    const change = {
      organizationId: tx.organizationId,
      contactId,
      cause: 'event',
      touched: [KEYS.all],
      correlationId: id,
      eventId: id,
    } as const;
    await this.queue(tx, [change]);
  }

  private async queue(tx: Transaction, changes: readonly QueuedChange[]): Promise<void> {
    if (changes.length === 0) return;
    const of = <T>(read: (change: QueuedChange) => T): T[] => changes.map(read);
    await tx.prepared(QUEUE, [
      of(({ organizationId }) => organizationId),
      of(({ contactId }) => contactId),
      of(({ cause }) => cause),
      of(({ touched }) => JSON.stringify(touched)),
      of(({ correlationId }) => correlationId),
      of(({ eventId }) => eventId),
    ]);
    tx.afterCommit(() => this.signal.raise());
  }
}

/**
 * The conditions that an event matches. What is asked of time is asked of the time at which it happened. It costs what the
 * event and the conditions come to, not their product.
 */
export function matching(
  conditions: readonly Condition[],
  properties: Readonly<Record<string, unknown>>,
  occurredAt: number,
): Condition[] {
  const contents = new Contents();
  return conditions.filter(({ where }) =>
    where.every(({ property, test }) =>
      passes(valueAt(properties, property), test, occurredAt, contents.contains),
    ),
  );
}

export async function keepMatches(
  tx: Transaction,
  matches: readonly {
    condition: Condition;
    event: Pick<StoredEvent, 'organizationId' | 'id' | 'contactId' | 'occurredAt'>;
  }[],
): Promise<void> {
  if (matches.length === 0) return;
  await tx.prepared(KEEP_MATCHES, [
    matches.map(({ event }) => event.organizationId),
    matches.map(({ condition }) => condition.id),
    matches.map(({ event }) => event.contactId),
    matches.map(({ event }) => event.occurredAt),
    matches.map(({ event }) => event.id),
  ]);
}

function matchesOf(index: SegmentIndex, event: StoredEvent): Match[] {
  if (event.event === undefined) return [];
  const conditions = index.conditionsOn(event.event);
  if (conditions.length === 0) return [];
  const matched = matching(conditions, event.properties, Date.parse(event.occurredAt));
  return matched.map((condition) => ({ condition, event }));
}

function changeOf(
  index: SegmentIndex,
  event: StoredEvent,
  matches: readonly Match[],
): QueuedChange | undefined {
  if (event.onDeleted) return undefined;
  const fields = index.known(event.changedFields.map(KEYS.field));
  const touched = matches.map(({ condition }) => KEYS.condition(condition.id));
  touched.push(...fields, ...(event.created ? index.known([KEYS.created]) : []));
  if (touched.length === 0) return undefined;
  return {
    organizationId: event.organizationId,
    contactId: event.contactId,
    // An identify says something of the contact, as a change of its attributes would.
    cause: event.event === undefined ? 'attribute' : 'event',
    touched,
    correlationId: event.id,
    eventId: event.id,
  };
}
