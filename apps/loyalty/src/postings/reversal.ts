import { Injectable } from '@nestjs/common';
import { afterLocks, Clock, WriteConflict, type Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { LotExpiry } from '../expiry/lot-expiry.service.js';
import type { EntryKind } from '../ledger/entries.js';
import {
  creditLines,
  Debts,
  debtLots,
  expirations,
  type Line,
  lotsOf,
  spendableLots,
  takeFrom,
} from '../ledger/lots.js';
import { contactsOf, lockRefs } from '../ledger/subjects.js';
import type { Effect } from './posting-effect.js';
import { expiredOfCredit, type ReturnedLot, returnedLots } from './returned-lots.js';

/** What comes back after its lot has ended is good for so long. */
const RETURNED_FOR_MS = 30 * 86_400_000;

const ORIGINAL = `
  SELECT t.id, t.kind, t.points, t.subject_ref, t.expires_at, s.contact_id
    FROM transactions t
    LEFT JOIN subjects s ON s.organization_id = t.organization_id AND s.subject_ref = t.subject_ref
   WHERE t.organization_id = $1 AND t.id = $2`;

const LINES = `
  SELECT lot_id AS "lotId", subject_ref AS "subjectRef", points::float8 AS points
    FROM lines WHERE organization_id = $1 AND transaction_id = $2 ORDER BY lot_id`;

const REFS = 'SELECT subject_ref FROM subjects WHERE organization_id = $1 AND contact_id = $2';

/** A merge or an undo writes both contacts first: until this ends, the refs stay whose they are. */
const KEEP_CONTACT = 'SELECT FROM contact_refs WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE';

/** Each is a merge or an undo that committed since the contact was looked at. */
const OWNER_TURNS = 10;

interface Original {
  id: string;
  kind: EntryKind;
  points: number;
  subjectRef: string;
  contactId: string;
  expiresAt: Date | null;
  lines: Line[];
  /** All refs of its contact. */
  refs: string[];
  /** Of a credit: the lots in which points of it came back after its end. */
  returned: ReturnedLot[];
}

/** Works out reversals (loyalty.md §3). */
@Injectable()
export class Reversals {
  constructor(
    private readonly expiry: LotExpiry,
    private readonly clock: Clock,
  ) {}

  /**
   * The effect of reversing a transaction, once; the ledgers that it concerns are locked from here on. Also for a
   * soft-deleted contact: what is there stays editable.
   * @param reversal `id` is its own
   * @throws Problem `reference_not_found`, `not_reversible`, `already_reversed` with `reversed_by`
   */
  async effect(tx: Transaction, reversal: { id: string; reversesId: string }): Promise<Effect> {
    const [original, now] = await afterLocks(this.clock, lockOriginal(tx, reversal.reversesId));
    await refuseSecond(tx, original);
    const { contactId, subjectRef } = original;
    const effect = { contactId, subjectRef, reversesId: original.id, at: now };
    if (original.points < 0) return { ...effect, ...(await giveBack(tx, original, reversal.id, now)) };
    const expired = await this.expiredOf(tx, original, now);
    return { ...effect, ...(await takeBack(tx, original, original.points - expired, now)), expiresAt: null };
  }

  /** Lots whose end has come end now, as the sweep would have had it: when that comes by must make no difference. */
  private async expiredOf(tx: Transaction, original: Original, now: Date): Promise<number> {
    const { id: lotId, subjectRef, returned } = original;
    const lots = [{ lotId, subjectRef }, ...returned];
    const lotIds = lots.map((lot) => lot.lotId);
    await this.expiry.expireDue(tx, { subjectRefs: lots.map((lot) => lot.subjectRef), lotIds }, now);
    return expiredOfCredit(tx, lotId, returned);
  }
}

async function lockOriginal(tx: Transaction, id: string): Promise<Original> {
  for await (const _ of turns({ most: OWNER_TURNS })) {
    // A turn that did not succeed gives its locks back: contacts come before ledgers, for all.
    const original = await tx.savepoint(() => tryLock(tx, id)).catch(noneWhereMoved);
    if (original) return original;
  }
  const detail = 'The contact keeps being merged; try again shortly.';
  throw new Problem('dependency_unavailable', { detail });
}

function noneWhereMoved(error: unknown): undefined {
  if (!(error instanceof WriteConflict)) throw error;
}

async function tryLock(tx: Transaction, id: string): Promise<Original> {
  const { contactId } = await readOriginal(tx, id);
  await tx.query(KEEP_CONTACT, [tx.organizationId, contactId]);
  const original = await readOriginal(tx, id);
  if (original.contactId !== contactId)
    throw new WriteConflict('The contact of a transaction has changed meanwhile');
  return withReturned(tx, original);
}

/** Locks the ledgers, and with those of a credit the ones to which points of it came back. */
async function withReturned(tx: Transaction, original: Original): Promise<Original> {
  const own = [...original.refs, ...original.lines.map(({ subjectRef }) => subjectRef)];
  const refsOf = (lots: readonly ReturnedLot[]): string[] => lots.map(({ subjectRef }) => subjectRef);
  await lockRefs(tx, [...own, ...refsOf(await returnedLots(tx, original))]);
  // Under the locks none is added; one that was added before them may be of another ref.
  const returned = await returnedLots(tx, original);
  if (returned.length > 0) await lockRefs(tx, refsOf(returned));
  // Whoever was parted from the contact takes their ref back, or is erased, under these locks and no other.
  const contacts = await contactsOf(tx, own);
  const isTheirs = (ref: string): boolean => contacts.get(ref) === original.contactId;
  if (!contacts.has(original.subjectRef)) throw new Problem('not_reversible');
  if (!isTheirs(original.subjectRef))
    throw new WriteConflict('The contact of a transaction has changed meanwhile');
  return { ...original, refs: original.refs.filter(isTheirs), returned };
}

async function readOriginal(tx: Transaction, id: string): Promise<Original> {
  const [row] = await tx.query<{
    id: string;
    kind: EntryKind;
    points: string;
    subject_ref: string;
    expires_at: Date | null;
    contact_id: string | null;
  }>(ORIGINAL, [tx.organizationId, id]);
  const detail = 'There is no such transaction.';
  const code = 'reference_not_found';
  if (row === undefined)
    throw new Problem(code, { detail, errors: [{ pointer: '/reverses_id', code, detail }] });
  // Without a contact it is a tombstone's.
  if (row.kind === 'expire' || row.kind === 'reverse' || row.contact_id === null)
    throw new Problem('not_reversible');
  const refs = await tx.query<{ subject_ref: string }>(REFS, [tx.organizationId, row.contact_id]);
  return {
    id: row.id,
    kind: row.kind,
    points: Number(row.points),
    subjectRef: row.subject_ref,
    contactId: row.contact_id,
    expiresAt: row.expires_at,
    lines: await tx.query<Line>(LINES, [tx.organizationId, id]),
    refs: refs.map(({ subject_ref: ref }) => ref),
    returned: [],
  };
}

async function refuseSecond(tx: Transaction, { id }: Original): Promise<void> {
  const [first] = await tx.query<{ id: string }>(
    'SELECT id FROM transactions WHERE organization_id = $1 AND reverses_id = $2',
    [tx.organizationId, id],
  );
  if (first !== undefined) throw new Problem('already_reversed', { members: { reversed_by: first.id } });
}

/** A credit's points less what expired of them: from its lot, then from others; what is lacking is owed by its lot. */
async function takeBack(
  tx: Transaction,
  original: Original,
  points: number,
  now: Date,
): Promise<Pick<Effect, 'points' | 'lines'>> {
  if (points <= 0) throw new Problem('not_reversible');
  const isOwn = ({ lotId }: { lotId: string }): boolean => lotId === original.id;
  const own = await lotsOf(tx, [{ lotId: original.id, subjectRef: original.subjectRef }]);
  const left = own.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  const lots = await spendableLots(tx, original.refs, now, points);
  const { lines, lacking } = takeFrom([...left, ...lots.filter((lot) => !isOwn(lot))], points);
  if (lacking === 0) return { points: -points, lines };
  const owed = (lines.find(isOwn)?.points ?? 0) - lacking;
  const owing = { lotId: original.id, subjectRef: original.subjectRef, points: owed };
  return { points: -points, lines: [owing, ...lines.filter((line) => !isOwn(line))] };
}

/** A debit's points to the lots that they came from; those of lots that have ended open one of 30 days. */
async function giveBack(
  tx: Transaction,
  original: Original,
  id: string,
  now: Date,
): Promise<Pick<Effect, 'points' | 'lines' | 'expiresAt'>> {
  const lots = await lotsOf(tx, original.lines);
  // What has expired has ended, whatever another instance's clock says.
  const expired = await expirations(
    tx,
    lots.map(({ lotId }) => lotId),
  );
  const ended = new Set(
    lots
      .filter(({ lotId, expiresAt }) => expired.has(lotId) || (expiresAt !== null && expiresAt <= now))
      .map(({ lotId }) => lotId),
  );
  const lines = original.lines
    .filter(({ lotId }) => !ended.has(lotId))
    .map((line): Line => ({ ...line, points: -line.points }));
  const late = original.lines
    .filter(({ lotId }) => ended.has(lotId))
    .reduce((sum, { points }) => sum - points, 0);
  const points = -original.points;
  if (late === 0) return { points, lines, expiresAt: null };
  // Less what this reversal itself puts back into them.
  const debts = new Debts(await debtLots(tx, original.refs), lines);
  const fresh = creditLines(id, original.subjectRef, late, debts);
  const opens = fresh.some(({ lotId }) => lotId === id);
  return {
    points,
    lines: merged([...lines, ...fresh]),
    expiresAt: opens ? new Date(now.getTime() + RETURNED_FOR_MS) : null,
  };
}

/** One line per lot: a lot may both get its points back and be owed some. */
function merged(lines: readonly Line[]): Line[] {
  const byLot = new Map<string, Line>();
  for (const line of lines) {
    const before = byLot.get(line.lotId);
    byLot.set(line.lotId, before === undefined ? line : { ...line, points: before.points + line.points });
  }
  return [...byLot.values()];
}
