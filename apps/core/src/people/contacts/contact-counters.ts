import { Injectable } from '@nestjs/common';
import type { ChangeVerb, Transaction } from '@customer-platform/database';

/**
 * By day of the change. Negative partitions are of what does not come off the queue: several, taken at random, so that
 * those who create contacts at the same time seldom wait for each other's commit.
 */
const ADD = `
  INSERT INTO usage_days AS day (organization_id, day, partition, contacts_created, contacts_deleted)
  VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, -1 - floor(random() * 8)::int, $3, $4)
  ON CONFLICT (organization_id, day, partition) DO UPDATE
    SET contacts_created = day.contacts_created + excluded.contacts_created,
        contacts_deleted = day.contacts_deleted + excluded.contacts_deleted`;

const COUNTS: Partial<Record<ChangeVerb, readonly [created: number, deleted: number]>> = {
  created: [1, 0],
  deleted: [0, 1],
  restored: [0, -1],
};

/** Counts contacts for usage; a purged one was taken off the active ones when it was deleted. */
@Injectable()
export class ContactCounters {
  /** The last statement of a change that others of the organization could wait for. */
  async count(tx: Transaction, verb: ChangeVerb, now: Date, contacts = 1): Promise<void> {
    const counts = COUNTS[verb]?.map((count) => count * contacts);
    if (counts) await tx.query(ADD, [tx.organizationId, now, ...counts]);
  }
}
