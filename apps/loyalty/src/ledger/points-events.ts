import type { Transaction } from '@customer-platform/database';
import type { NewDomainEvent } from '@customer-platform/event-bus';
import { sumsOf } from './available.js';
import type { EntryKind } from './entries.js';

const EVENT_OF = {
  earn: 'loyalty.points.earned.v1',
  adjust: 'loyalty.points.adjusted.v1',
  spend: 'loyalty.points.spent.v1',
  expire: 'loyalty.points.expired.v1',
  reverse: 'loyalty.points.reversed.v1',
} as const satisfies Record<EntryKind, string>;

/** A posted transaction to tell of. */
export interface MovedPoints {
  kind: EntryKind;
  transactionId: string;
  contactId: string;
  points: number;
  ruleId: string | null;
  eventId: string | null;
  correlationId: string;
  causationId?: string | undefined;
}

/** What loyalty tells of transactions (loyalty.md §6), with what each contact has available after all of them. */
export async function pointsEvents(
  tx: Transaction,
  moved: readonly MovedPoints[],
  now: Date,
): Promise<NewDomainEvent[]> {
  const sums = await sumsOf(
    tx,
    moved.map(({ contactId }) => contactId),
    now,
  );
  return moved.map((each): NewDomainEvent<(typeof EVENT_OF)[EntryKind]> => ({
    type: EVENT_OF[each.kind],
    organizationId: tx.organizationId,
    key: each.contactId,
    subject: `transactions/${each.transactionId}`,
    correlationId: each.correlationId,
    ...(each.causationId === undefined ? {} : { causationId: each.causationId }),
    data: {
      transaction_id: each.transactionId,
      contact_id: each.contactId,
      points: each.points,
      available: sums.get(each.contactId)?.available ?? 0,
      rule_id: each.ruleId,
      event_id: each.eventId,
    },
  }));
}
