import type { WorkerTransaction } from '@customer-platform/database';

const WITH_CHANGES = `
  WITH RECURSIVE found AS (
    (SELECT organization_id FROM segment_changes ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT organization_id FROM segment_changes WHERE organization_id > found.organization_id
             ORDER BY organization_id LIMIT 1)
      FROM found WHERE found.organization_id IS NOT NULL)
  SELECT organization_id FROM found WHERE organization_id IS NOT NULL`;

/** The contact of each organization whose time comes first. */
const WITH_DUES = `
  WITH RECURSIVE earliest AS (
    (SELECT organization_id, due_at FROM segment_dues ORDER BY organization_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.due_at FROM earliest, LATERAL (
      SELECT organization_id, due_at FROM segment_dues WHERE organization_id > earliest.organization_id
       ORDER BY organization_id, due_at LIMIT 1) AS next)
  SELECT organization_id FROM earliest WHERE due_at <= $1`;

/** Found without reading all that there is to do: however much one has, it is asked every half second. */
export const BUSY = `
  SELECT organization_id FROM (${WITH_CHANGES}) AS changed
  UNION SELECT organization_id FROM (${WITH_DUES}) AS due
  UNION SELECT organization_id FROM segment_builds WHERE phase <> 'waiting'
  UNION SELECT organization_id FROM segment_conditions WHERE state = 'dropped'
  UNION SELECT organization_id FROM segment_removals
  UNION SELECT organization_id FROM segment_clocks WHERE reached_at > $2`;

/** The organizations with something to evaluate. @param setBack whose segments had come further than that */
export async function busyOrganizations(tx: WorkerTransaction, now: Date, setBack: Date): Promise<string[]> {
  const rows = await tx.query<{ organization_id: string }>(BUSY, [now, setBack]);
  return rows.map(({ organization_id: id }) => id);
}
