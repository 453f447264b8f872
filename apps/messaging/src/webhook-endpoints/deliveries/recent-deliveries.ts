import type { Transaction } from '@customer-platform/database';

/** A delivery as its endpoint shows it. */
export interface RecentDelivery {
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly created_at: Date;
  readonly attempted_at: Date | null;
  readonly due_at: Date | null;
}

const SHOWN = 100;

const RECENT = `
  SELECT recent.* FROM (
    SELECT id, enabled AND deleted_at IS NULL AS live FROM webhook_endpoints
     WHERE organization_id = $1 AND id = ANY($2::uuid[])) AS endpoint, LATERAL (
    SELECT endpoint_id, event_id, type, state, attempts, status_code, error, created_at, attempted_at,
           CASE WHEN endpoint.live THEN due_at END AS due_at
      FROM webhook_deliveries d WHERE d.organization_id = $1 AND d.endpoint_id = endpoint.id
     ORDER BY created_at DESC, event_id DESC LIMIT ${String(SHOWN)}) AS recent`;

/** The newest deliveries of each of these endpoints, newest first. */
export async function recentDeliveries(
  tx: Transaction,
  endpointIds: readonly string[],
): Promise<Map<string, RecentDelivery[]>> {
  const rows = await tx.query<RecentDelivery>(RECENT, [tx.organizationId, endpointIds]);
  return Map.groupBy(rows, (row) => row.endpoint_id);
}
