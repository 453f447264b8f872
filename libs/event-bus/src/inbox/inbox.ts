import { Injectable } from '@nestjs/common';
import {
  uuids,
  type RetentionOptions,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';

const CLAIM = `
  INSERT INTO inbox (organization_id, consumer, event_id)
  SELECT $1, $2, event_id FROM unnest($3::uuid[]) AS event_id
  ON CONFLICT DO NOTHING
  RETURNING event_id`;

/** In one order for all, as in one organization. */
const CLAIM_ACROSS = `
  INSERT INTO inbox (organization_id, consumer, event_id)
  SELECT organization_id, $1::text, event_id FROM unnest($2::uuid[], $3::uuid[]) AS claimed (organization_id, event_id)
   ORDER BY organization_id, event_id
  ON CONFLICT DO NOTHING
  RETURNING organization_id, event_id`;

/**
 * The events that Kafka can no longer deliver again: it keeps them half as long. By the clock of the database too, by
 * which they were claimed: one of a process that is wrong must not make it forget.
 */
export const OLD_INBOX_ROWS: RetentionOptions = {
  name: 'inbox-retention',
  table: 'inbox',
  where: `old.claimed_at < least($1, now() - interval '14 days')`,
  keptMs: 14 * 86_400_000,
};

/** An event as the inbox knows it. */
interface ClaimedEvent {
  readonly organizationId: string;
  readonly id: string;
}

/** What makes a consumer idempotent: the events it has had, recorded in the transaction of their effect. */
@Injectable()
export class Inbox {
  /**
   * Records these events of the transaction's organization as taken by `consumer` and returns the ids that had not
   * been before. A concurrent transaction with the same ids waits for this one. Kept for 14 days, twice as long as
   * Kafka keeps an event.
   */
  async claim(tx: Transaction, consumer: string, eventIds: readonly string[]): Promise<Set<string>> {
    if (eventIds.length === 0) return new Set();
    // In one order for all, so that two transactions with overlapping ids wait instead of deadlocking.
    const ids = [...new Set(eventIds)].sort();
    const rows = await tx.prepared<{ event_id: string }>(CLAIM, [tx.organizationId, consumer, ids]);
    return new Set(rows.map((row) => row.event_id));
  }

  /** As `claim`, in one statement, for events of several organizations; returns those that had not been taken before. */
  async claimAcross<E extends ClaimedEvent>(
    tx: WorkerTransaction,
    consumer: string,
    events: readonly E[],
  ): Promise<E[]> {
    if (events.length === 0) return [];
    const rows = await tx.prepared<{ organization_id: string; event_id: string }>(CLAIM_ACROSS, [
      consumer,
      uuids(events.map(({ organizationId }) => organizationId)),
      uuids(events.map(({ id }) => id)),
    ]);
    const claimed = new Set(rows.map((row) => `${row.organization_id} ${row.event_id}`));
    return events.filter(({ organizationId, id }) => claimed.has(`${organizationId} ${id}`));
  }
}
