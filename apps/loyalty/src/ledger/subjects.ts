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
  const ids = uuids(contacts);
  await tx.query(ENSURE, [tx.organizationId, uuids(contacts.map(() => randomUUID())), ids]);
  const rows = await tx.query<Row>(LOCK, [tx.organizationId, ids]);
  return new Map(
    [...Map.groupBy(rows, (row) => row.contact_id)].map(([contactId, own]) => {
      // The first of another origin where its own has gone with an undo that is yet to be told of.
      const first = own.find((row) => row.origin_contact_id === contactId) ?? own[0];
      return [contactId, { own: (first as Row).subject_ref, all: own.map((row) => row.subject_ref) }];
    }),
  );
}

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
