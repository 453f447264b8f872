import { Injectable } from '@nestjs/common';
import { newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { type Entry, postEntries } from '../ledger/entries.js';
import { type MovedPoints, pointsEvents } from '../ledger/points-events.js';

/** A lot whose end has come while something was left of it. */
export interface DueLot {
  readonly lotId: string;
  readonly subjectRef: string;
  /** Null: of an erased contact; its lots end like all others. */
  readonly contactId: string | null;
  readonly remaining: number;
  readonly expiresAt: Date;
}

const ACTOR = { type: 'system', id: 'loyalty' } as const;

/** Takes what is left of lots at their end, once per lot (loyalty.md §3). */
@Injectable()
export class LotExpiry {
  constructor(private readonly outbox: Outbox) {}

  /** Posts and tells of expiries, dated at the lots' ends; the subjects' locks must be held. */
  async expire(tx: Transaction, lots: readonly DueLot[], now: Date): Promise<void> {
    const expired = lots.map((lot) => ({ lot, id: newId(), correlationId: newId() }));
    await postEntries(
      tx,
      expired.map(({ lot, id, correlationId }) => entryOf(lot, id, correlationId)),
      now,
    );
    const told = expired.flatMap(({ lot, id, correlationId }): MovedPoints[] => {
      if (lot.contactId === null) return [];
      const { contactId, remaining } = lot;
      const points = -remaining;
      return [
        { kind: 'expire', transactionId: id, contactId, points, ruleId: null, eventId: null, correlationId },
      ];
    });
    if (told.length > 0) await this.outbox.append(tx, await pointsEvents(tx, told, now));
  }
}

function entryOf(lot: DueLot, id: string, correlationId: string): Entry {
  const { lotId, subjectRef, contactId, remaining, expiresAt } = lot;
  return {
    id,
    kind: 'expire',
    points: -remaining,
    subjectRef,
    actor: ACTOR,
    expiresAt: null,
    expiredLotId: lotId,
    link:
      contactId === null
        ? null
        : { eventId: null, correlationId, occurredAt: expiresAt, reference: null, reason: null },
    lines: [{ lotId, subjectRef, points: -remaining }],
  };
}
