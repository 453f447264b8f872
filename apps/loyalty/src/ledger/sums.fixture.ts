import type { TestDatabase } from '@customer-platform/testing';

/**
 * What in an organization's ledger does not add up: balances, transactions and lots that are not the sum of their
 * lines, and lots below zero that no reversal explains. Always empty.
 */
export function wrongSums(database: TestDatabase, organizationId: string): Promise<unknown[]> {
  return database.query(
    `SELECT 'balance' AS what, subject_ref AS id FROM balances b WHERE organization_id = $1
        AND points <> (SELECT coalesce(sum(points), 0) FROM lines l
          WHERE (l.organization_id, l.subject_ref) = (b.organization_id, b.subject_ref))
     UNION ALL SELECT 'transaction', id FROM transactions t WHERE organization_id = $1
        AND points <> (SELECT coalesce(sum(points), 0) FROM lines l
          WHERE (l.organization_id, l.transaction_id) = (t.organization_id, t.id))
     UNION ALL SELECT 'lot', lot_id FROM lot_balances b WHERE organization_id = $1
        AND remaining <> (SELECT sum(points) FROM lines l
          WHERE (l.organization_id, l.subject_ref, l.lot_id) = (b.organization_id, b.subject_ref, b.lot_id))
     UNION ALL SELECT 'lot without a sum', lot_id FROM lines l WHERE organization_id = $1
        AND NOT EXISTS (SELECT FROM lot_balances b
          WHERE (l.organization_id, l.subject_ref, l.lot_id) = (b.organization_id, b.subject_ref, b.lot_id))
     UNION ALL SELECT 'debt of no reversal', lot_id FROM lot_balances b WHERE organization_id = $1 AND remaining < 0
        AND NOT EXISTS (SELECT FROM transactions t
          WHERE (t.organization_id, t.reverses_id) = (b.organization_id, b.lot_id))
     UNION ALL SELECT 'lot of two subjects', lot_id FROM lines l WHERE organization_id = $1
       GROUP BY lot_id HAVING count(DISTINCT subject_ref) > 1`,
    [organizationId],
  );
}
