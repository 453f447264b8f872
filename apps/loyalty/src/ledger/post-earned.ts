import { newId, type Transaction } from '@customer-platform/database';
import { type Head, insertHeads, writeEffects } from './entries.js';
import { creditLines, Debts, debtLots, type Lot } from './lots.js';
import { postPlainEarned } from './post-plain-earned.js';
import type { Subjects } from './subjects.js';

/** An earning to post; its contact's locks are held. */
export interface Earning {
  contactId: string;
  points: number;
  rule: { id: string; version: number; eventHash: Buffer };
  eventId: string;
  correlationId: string;
  occurredAt: string;
  expiresAt: Date | null;
}

/** A posted one, with the row's id. */
export interface Posted extends Earning {
  id: string;
}

const RULES = { type: 'system', id: 'loyalty' } as const;

/**
 * Posts earnings in few statements; one whose (rule, event) has earned before is left out. Points first fill what the
 * contact owes (a lot below zero after a reversal), the rest opens a lot of its own.
 */
export async function postEarned(
  tx: Transaction,
  earnings: readonly Earning[],
  subjects: Map<string, Subjects>,
  now: Date,
): Promise<Posted[]> {
  if (earnings.length === 0) return [];
  const given = earnings.map((earning): Posted => ({ ...earning, id: newId() }));
  const heads = given.map((earning) => headOf(earning, subjectsOf(subjects, earning.contactId).own));
  const debts = await debtsByContact(tx, given, subjects);
  const owes = (index: number): boolean => debts.has((given[index] as Posted).contactId);
  const plain = await postPlainEarned(
    tx,
    heads.filter((_, index) => !owes(index)),
    now,
  );
  const paying = heads.flatMap((head, index) => {
    const owed = debts.get((given[index] as Posted).contactId);
    return owed === undefined ? [] : [{ head, owed }];
  });
  const paid = await postPaying(tx, paying, now);
  return given.filter(({ id }) => plain.has(id) || paid.has(id));
}

/** Those of contacts that owe: what each of them fills is known only once it is known which of them are new. */
async function postPaying(
  tx: Transaction,
  earned: readonly { head: Head; owed: Debts }[],
  now: Date,
): Promise<Set<string>> {
  if (earned.length === 0) return new Set();
  const heads = earned.map(({ head }) => head);
  const inserted = await insertHeads(tx, heads, now);
  const entries = earned
    .filter(({ head }) => inserted.has(head.id))
    .map(({ head, owed }) => ({
      ...head,
      lines: creditLines(head.id, head.subjectRef, head.points, owed),
    }));
  if (entries.length > 0) await writeEffects(tx, entries);
  return inserted;
}

function headOf(earning: Posted, subjectRef: string): Head {
  const { id, points, rule, expiresAt, eventId, correlationId, occurredAt } = earning;
  const link = { eventId, correlationId, occurredAt, reference: null, reason: null };
  return { id, kind: 'earn', points, subjectRef, rule, expiresAt, actor: RULES, link };
}

/** What contacts owe; those that owe nothing are not in the answer. */
async function debtsByContact(
  tx: Transaction,
  earnings: readonly Earning[],
  subjects: Map<string, Subjects>,
): Promise<Map<string, Debts>> {
  const ownerOf = new Map<string, string>();
  for (const { contactId } of earnings) {
    for (const ref of subjectsOf(subjects, contactId).all) ownerOf.set(ref, contactId);
  }
  const lots = await debtLots(tx, [...ownerOf.keys()]);
  const owner = ({ subjectRef }: Lot): string => ownerOf.get(subjectRef) as string;
  return new Map([...Map.groupBy(lots, owner)].map(([contactId, own]) => [contactId, new Debts(own)]));
}

function subjectsOf(subjects: Map<string, Subjects>, contactId: string): Subjects {
  const own = subjects.get(contactId);
  if (own === undefined) throw new Error('The locks of a contact that earns are not held');
  return own;
}
