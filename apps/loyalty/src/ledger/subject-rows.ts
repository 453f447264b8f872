import { contactTable, type ContactRows } from '@customer-platform/contact-refs';
import type { Clock } from '@customer-platform/database';
import { eraseSubjects } from './erase-subjects.js';

/** As whoever posts: every ref of the contacts is locked, in one order for all. */
const LOCK = `
  SELECT s.origin_contact_id AS origin
    FROM subjects s JOIN balances b USING (organization_id, subject_ref)
   WHERE s.organization_id = $1 AND (s.contact_id = ANY($2::uuid[]) OR s.origin_contact_id = ANY($2::uuid[]))
   ORDER BY s.subject_ref
     FOR UPDATE OF b`;

/**
 * The refs of the ledger as rows that belong to contacts. No row of the ledger itself is touched by a merge or its
 * undo (loyalty.md §5), and the refs of a contact stay until it is erased.
 */
export function subjectRows(clock: Clock): ContactRows {
  return {
    resource: 'transactions',
    origins: async (tx, contactIds) => {
      const rows = await tx.query<{ origin: string }>(LOCK, [tx.organizationId, contactIds]);
      return rows.map(({ origin }) => origin);
    },
    move: contactTable('subjects').move,
    erase: (tx, origins) => eraseSubjects(tx, origins, clock),
  };
}
