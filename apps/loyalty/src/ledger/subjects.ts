import { randomUUID } from 'node:crypto';
import { type ReferenceSource, type Transaction, uuids } from '@customer-platform/database';

/** What core is told before it purges a contact; of a survivor, those of all who were merged into it. */
export const TRANSACTIONS_OF_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'transactions',
  count: `
    SELECT count(*)::int AS count FROM subjects s JOIN links USING (organization_id, subject_ref)
     WHERE s.organization_id = $1 AND s.contact_id = $2`,
};

/** A ref comes with its balance, and goes with it. */
const ENSURE = `
  WITH opened AS (
    INSERT INTO subjects (organization_id, subject_ref, contact_id, origin_contact_id)
    SELECT $1, subject_ref, contact_id, contact_id
      FROM unnest($2::uuid[], $3::uuid[]) AS given (subject_ref, contact_id)
    ON CONFLICT (organization_id, origin_contact_id) DO NOTHING
    RETURNING subject_ref)
  INSERT INTO balances (organization_id, subject_ref, points) SELECT $1, subject_ref, 0 FROM opened`;

/** Every ref of the contacts is locked, in one order for all, so that two writers wait instead of deadlocking. */
const LOCK = `
  SELECT s.contact_id, s.origin_contact_id, s.subject_ref
    FROM subjects s JOIN balances b USING (organization_id, subject_ref)
   WHERE s.organization_id = $1 AND s.contact_id = ANY($2::uuid[])
   ORDER BY s.subject_ref
     FOR UPDATE OF b`;

/**
 * Whom a ref was opened for has it: an undo, of which their contact has been told, may yet have to be told of to the
 * survivor's.
 */
const TAKE_BACK = `
  UPDATE subjects SET contact_id = origin_contact_id
   WHERE organization_id = $1 AND origin_contact_id = ANY($2::uuid[]) AND contact_id <> origin_contact_id`;

const LOCK_ORIGINS = `
  SELECT FROM subjects s JOIN balances b USING (organization_id, subject_ref)
   WHERE s.organization_id = $1 AND s.origin_contact_id = ANY($2::uuid[])
   ORDER BY s.subject_ref
     FOR UPDATE OF b`;

const LOCK_REFS = `
  SELECT FROM balances WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[]) ORDER BY subject_ref FOR UPDATE`;

const CONTACTS = `
  SELECT subject_ref, contact_id FROM subjects WHERE organization_id = $1 AND subject_ref = ANY($2::uuid[])`;

interface Row {
  contact_id: string;
  origin_contact_id: string;
  subject_ref: string;
}

/** The refs of a contact: its own, which takes new points, and those of all who were merged into it. */
export interface Subjects {
  readonly own: string;
  readonly all: readonly string[];
}

/**
 * Locks the contacts' ledgers until the transaction ends and answers their refs, by contact. A contact that never had
 * points gets one. Whoever changes a balance comes through here first, the contacts being kept from merges.
 */
export async function lockSubjects(
  tx: Transaction,
  contactIds: readonly string[],
): Promise<Map<string, Subjects>> {
  const contacts = [...new Set(contactIds)].sort();
  await open(tx, contacts);
  let refs = await lockOf(tx, contacts);
  const away = contacts.filter((id) => !refs.some((row) => isOwn(row) && row.contact_id === id));
  if (away.length > 0) {
    await lockOrigins(tx, away);
    await tx.query(TAKE_BACK, [tx.organizationId, uuids(away)]);
    refs = await lockOf(tx, contacts);
  }
  const byContact = Map.groupBy(await stillTheirs(tx, refs), (row) => row.contact_id);
  return new Map(
    [...byContact].flatMap(([contactId, rows]) => {
      const own = rows.find(isOwn);
      return own ? [[contactId, { own: own.subject_ref, all: rows.map((row) => row.subject_ref) }]] : [];
    }),
  );
}

/** Locks the refs that were opened for these contacts, whomever they belong to; each has one. */
export async function lockOrigins(tx: Transaction, contactIds: readonly string[]): Promise<void> {
  await open(tx, contactIds);
  await tx.query(LOCK_ORIGINS, [tx.organizationId, uuids(contactIds)]);
}

async function open(tx: Transaction, contactIds: readonly string[]): Promise<void> {
  const refs = uuids(contactIds.map(() => randomUUID()));
  await tx.query(ENSURE, [tx.organizationId, refs, uuids(contactIds)]);
}

function lockOf(tx: Transaction, contactIds: readonly string[]): Promise<Row[]> {
  return tx.query<Row>(LOCK, [tx.organizationId, uuids(contactIds)]);
}

/** A ref of somebody else may have been erased, or taken back, until its lock was held. */
async function stillTheirs(tx: Transaction, rows: readonly Row[]): Promise<Row[]> {
  const others = rows.filter((row) => !isOwn(row));
  if (others.length === 0) return [...rows];
  const now = await contactsOf(
    tx,
    others.map((row) => row.subject_ref),
  );
  return rows.filter((row) => isOwn(row) || now.get(row.subject_ref) === row.contact_id);
}

const isOwn = (row: Row): boolean => row.origin_contact_id === row.contact_id;

/** As `lockSubjects`, for refs that are there, erased ones included. */
export async function lockRefs(tx: Transaction, refs: readonly string[]): Promise<void> {
  await tx.query(LOCK_REFS, [tx.organizationId, [...new Set(refs)]]);
}

/** Whose refs are, by ref; those of erased contacts are nobody's. */
export async function contactsOf(tx: Transaction, refs: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ subject_ref: string; contact_id: string }>(CONTACTS, [
    tx.organizationId,
    uuids([...new Set(refs)]),
  ]);
  return new Map(rows.map((row) => [row.subject_ref, row.contact_id]));
}
