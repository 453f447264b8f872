import type { Transaction } from '@customer-platform/database';
import type { ContactRefs } from '../contacts/contact-refs.js';

/** As whoever posts: every ref of the contacts is locked, in one order for all. */
const LOCK = `
  SELECT s.subject_ref, s.contact_id, s.origin_contact_id
    FROM subjects s JOIN balances b USING (organization_id, subject_ref)
   WHERE s.organization_id = $1 AND s.contact_id = ANY($2::uuid[])
   ORDER BY s.subject_ref
     FOR UPDATE OF b`;

const MOVE = `
  UPDATE subjects SET contact_id = given.contact_id
    FROM unnest($2::uuid[], $3::uuid[]) AS given (subject_ref, contact_id)
   WHERE subjects.organization_id = $1 AND subjects.subject_ref = given.subject_ref`;

interface Row {
  subject_ref: string;
  contact_id: string;
  origin_contact_id: string;
}

/**
 * Gives the refs of these contacts to whom they belong now: the end of the merges of the contact they were made for.
 * So a merge moves them, an undo moves them back, and a repeat or another order of the two changes nothing. No row of
 * the ledger is touched (loyalty.md §5).
 */
export async function moveSubjects(
  tx: Transaction,
  refs: ContactRefs,
  contactIds: readonly string[],
): Promise<void> {
  const rows = await tx.query<Row>(LOCK, [tx.organizationId, [...new Set(contactIds)]]);
  if (rows.length === 0) return;
  const ends = await refs.ends(
    tx,
    rows.map(({ origin_contact_id: origin }) => origin),
  );
  const moved = rows.flatMap(({ subject_ref: ref, contact_id: owner, origin_contact_id: origin }) => {
    const end = ends.get(origin)?.id ?? origin;
    return end === owner ? [] : [{ ref, end }];
  });
  await tx.query(MOVE, [tx.organizationId, moved.map(({ ref }) => ref), moved.map(({ end }) => end)]);
}
