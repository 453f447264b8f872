import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';

const CLAIM = `
  INSERT INTO inbox (organization_id, consumer, event_id)
  SELECT $1, $2, event_id FROM unnest($3::uuid[]) AS event_id
  ON CONFLICT DO NOTHING
  RETURNING event_id`;

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
}
