import { Injectable } from '@nestjs/common';
import { newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { type Entry, postEntries } from '../ledger/entries.js';
import { type MovedPoints, pointsEvents } from '../ledger/points-events.js';

/** A lot whose end has come while something was left of it. */
interface DueLot {
  readonly lotId: string;
  readonly subjectRef: string;
  /** Null: of an erased contact; its lots end like all others. */
  readonly contactId: string | null;
  readonly remaining: number;
  readonly expiresAt: Date;
}

const DUE = `
  SELECT l.lot_id AS "lotId", l.subject_ref AS "subjectRef", s.contact_id AS "contactId",
         l.remaining::float8 AS remaining, l.expires_at AS "expiresAt"
    FROM lot_balances l LEFT JOIN subjects s USING (organization_id, subject_ref)
   WHERE l.organization_id = $1 AND l.subject_ref = ANY($2::uuid[]) AND l.lot_id = ANY($3::uuid[])
     AND l.remaining > 0 AND l.expires_at <= $4
   ORDER BY l.expires_at, l.lot_id`;

const ACTOR = { type: 'system', id: 'loyalty' } as const;

/** Takes what is left of lots at their end, once per lot (loyalty.md §3). */
@Injectable()
export class LotExpiry {
  constructor(private readonly outbox: Outbox) {}

  /**
   * Ends those of these lots whose end has come and of which something is left; the subjects' locks must be held. Answers
   * how many.
   */
  async expireDue(
    tx: Transaction,
    { subjectRefs, lotIds }: { subjectRefs: readonly string[]; lotIds: readonly string[] },
    now: Date,
  ): Promise<number> {
    const due = await tx.query<DueLot>(DUE, [tx.organizationId, subjectRefs, lotIds, now]);
    if (due.length > 0) await this.expire(tx, due, now);
    return due.length;
  }

  /** Posts and tells of expiries, dated at the lots' ends; the subjects' locks must be held. */
  private async expire(tx: Transaction, lots: readonly DueLot[], now: Date): Promise<void> {
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
