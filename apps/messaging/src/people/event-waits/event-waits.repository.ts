import { Injectable } from '@nestjs/common';
import type { ContactId } from '@customer-platform/contact-refs';
import { Clock, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import type { RoutedEvent } from '../../vocabulary/events/routed-event.js';

/** How long an event waits for its contact (messaging.md §3). */
export const CONTACT_PATIENCE_MS = 15 * 60_000;
/** The contact's own event mostly comes a moment later; then it is not looked for at all. */
const FIRST_LOOK_MS = 2_000;
/** Of one organization in one look. */
const MOST_OF_ONE = 50;

const ADD = `
  INSERT INTO event_waits (organization_id, event_id, contact_id, event, until, due_at, created_at)
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS w (organization_id uuid, event_id uuid, contact_id uuid, event jsonb,
    until timestamptz, due_at timestamptz, created_at timestamptz)
  ON CONFLICT DO NOTHING`;

/** What waits for a contact may know it by the id of one that was merged into it. */
const WAKE = `
  UPDATE event_waits SET due_at = $3 WHERE due_at > $3 AND (organization_id, contact_id) IN (
    SELECT * FROM unnest($1::uuid[], $2::uuid[])
    UNION ALL
    SELECT c.organization_id, c.id FROM unnest($1::uuid[], $2::uuid[]) AS ref (organization_id, id)
      JOIN contacts c ON c.organization_id = ref.organization_id AND c.merged_into = ref.id)
  RETURNING 1`;

/** Walks from the soonest of one organization to that of the next. */
const OWNERS = `
  WITH RECURSIVE owners AS (
    (SELECT organization_id AS id, due_at FROM event_waits ORDER BY organization_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.due_at FROM owners, LATERAL (
      SELECT w.organization_id, w.due_at FROM event_waits w WHERE w.organization_id > owners.id
       ORDER BY w.organization_id, w.due_at LIMIT 1) AS next
  )
  SELECT id FROM owners WHERE due_at <= $1 ORDER BY due_at`;

/**
 * Some of each organization. It waits as long again as it has waited, at most a minute, and is looked at when its patience
 * ends; what is over and still here waits from now.
 */
const TAKE = `
  WITH taken AS (
    SELECT due.organization_id, due.event_id FROM unnest($2::uuid[]) AS owners (organization_id), LATERAL (
      SELECT w.organization_id, w.event_id FROM event_waits w
       WHERE w.organization_id = owners.organization_id AND w.due_at <= $1
       ORDER BY w.due_at LIMIT ${String(MOST_OF_ONE)} FOR UPDATE SKIP LOCKED) AS due
  )
  UPDATE event_waits w
     SET due_at = least(CASE WHEN w.until > $1 THEN w.until END,
                        $1 + least(greatest($1 - w.created_at, interval '1 s'), interval '1 min'))
    FROM taken WHERE w.organization_id = taken.organization_id AND w.event_id = taken.event_id
  RETURNING w.organization_id, w.event_id, w.contact_id`;

/** In the order in which they happened. */
const LOCK = `
  SELECT event, until FROM event_waits WHERE organization_id = $1 AND event_id = ANY($2::uuid[])
   ORDER BY created_at, event_id FOR UPDATE`;

const FAIL = `
  UPDATE event_waits SET failures = failures + 1 WHERE organization_id = $1 AND event_id = $2 RETURNING failures`;

/** An event that waits, where it is looked for. */
export interface WaitingRef {
  readonly organization_id: string;
  readonly event_id: string;
  readonly contact_id: string;
}

/** An event that has waited. */
interface WaitingEvent {
  readonly event: RoutedEvent;
  readonly until: Date;
}

/** The table `event_waits`: events that rules may answer to and whose contact is not known here yet. */
@Injectable()
export class EventWaits {
  private listener: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whoever looks for what is due, told when something is. */
  listen(listener: () => void): void {
    this.listener = listener;
  }

  async add(tx: Transaction, events: readonly RoutedEvent[], now: Date): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map((event) => ({
      organization_id: event.organizationId,
      event_id: event.id,
      contact_id: event.contactId,
      event,
      until: new Date(now.getTime() + CONTACT_PATIENCE_MS),
      due_at: new Date(now.getTime() + FIRST_LOOK_MS),
      created_at: now,
    }));
    await tx.query(ADD, [JSON.stringify(rows)]);
  }

  /** These contacts have come, or have changed. */
  async wake(tx: Transaction, contacts: readonly ContactId[]): Promise<void> {
    if (contacts.length === 0) return;
    const rows = await tx.query(WAKE, [
      contacts.map(({ organizationId }) => organizationId),
      contacts.map(({ id }) => id),
      this.clock.now(),
    ]);
    if (rows.length > 0) tx.afterCommit(() => this.listener?.());
  }

  /** The organizations of which any is due, those that wait longest first. */
  async owners(tx: WorkerTransaction, now: Date): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(OWNERS, [now]);
    return rows.map(({ id }) => id);
  }

  /** Takes up what is due of these organizations; a process that dies with it leaves it to a later look. */
  async take(tx: WorkerTransaction, owners: readonly string[], now: Date): Promise<WaitingRef[]> {
    return tx.query<WaitingRef>(TAKE, [now, owners]);
  }

  /** Those that still wait, until the transaction ends. */
  async lock(
    tx: WorkerTransaction,
    organizationId: string,
    eventIds: readonly string[],
  ): Promise<WaitingEvent[]> {
    const rows = await tx.query<{ event: Omit<RoutedEvent, 'expiresAt'>; until: Date }>(LOCK, [
      organizationId,
      eventIds,
    ]);
    return rows.map(({ event, until }) => ({ event: { ...event, expiresAt: null }, until }));
  }

  /** @returns how often the event has failed to be routed; 0 where it waits no longer */
  async fail(tx: WorkerTransaction, { organization_id, event_id }: WaitingRef): Promise<number> {
    const [row] = await tx.query<{ failures: number }>(FAIL, [organization_id, event_id]);
    return row?.failures ?? 0;
  }

  /** It is looked at no more, unless its contact changes. */
  async setAside(tx: WorkerTransaction, { organization_id, event_id }: WaitingRef): Promise<void> {
    await tx.query(
      `UPDATE event_waits SET due_at = 'infinity' WHERE organization_id = $1 AND event_id = $2`,
      [organization_id, event_id],
    );
  }

  /** They wait no longer. */
  async remove(tx: Transaction, organizationId: string, eventIds: readonly string[]): Promise<void> {
    await tx.query('DELETE FROM event_waits WHERE organization_id = $1 AND event_id = ANY($2::uuid[])', [
      organizationId,
      eventIds,
    ]);
  }

  /** Nothing waits for these contacts any more. */
  async forget(tx: Transaction, contactIds: readonly string[]): Promise<void> {
    await tx.query('DELETE FROM event_waits WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])', [
      tx.organizationId,
      contactIds,
    ]);
  }
}
