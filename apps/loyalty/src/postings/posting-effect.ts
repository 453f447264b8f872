import { afterLocks, type Clock, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { sumsOf } from '../ledger/available.js';
import { creditLines, Debts, debtLots, type Line, spendableLots, takeFrom } from '../ledger/lots.js';
import { lockSubjects } from '../ledger/subjects.js';
import { type Movement, refuseEnded } from './read-posting.js';

/** What a posting does to the ledger. */
export interface Effect {
  contactId: string;
  subjectRef: string;
  points: number;
  expiresAt: Date | null;
  reversesId?: string;
  lines: Line[];
  /** The instant by which it was worked out, under the locks. */
  at: Date;
}

/**
 * The effect of an adjustment or a spend on an active contact, whose ledger is locked from here on.
 * @throws Problem `insufficient_points` with `available` and `requested`; `validation_failed` for a lot that would have
 * ended before it began
 */
export async function moveEffect(
  tx: Transaction,
  movement: Movement & { id: string },
  contactId: string,
  clock: Clock,
): Promise<Effect> {
  const { id, points, expiresAt } = movement;
  const [locked, now] = await afterLocks(clock, lockSubjects(tx, [contactId]));
  refuseEnded(movement, now);
  const subjects = locked.get(contactId);
  if (subjects === undefined) throw new Error('An active contact that is kept has no ledger of its own');
  const effect = { contactId, subjectRef: subjects.own, points, expiresAt, at: now };
  if (points > 0) {
    const debts = new Debts(await debtLots(tx, subjects.all));
    return { ...effect, lines: creditLines(id, subjects.own, points, debts) };
  }
  const requested = -points;
  const available = (await sumsOf(tx, [contactId], now)).get(contactId)?.available ?? 0;
  if (requested > available) throw new Problem('insufficient_points', { members: { available, requested } });
  const { lines } = takeFrom(await spendableLots(tx, subjects.all, now, requested), requested);
  return { ...effect, lines };
}
