import type { Transaction } from '@customer-platform/database';
import { DELIVERY_COLUMNS, type DeliveryRow } from './delivery-row.js';

const SHOWN = 100;

const RECENT = `
  SELECT recent.* FROM unnest($2::uuid[]) AS endpoint (shown), LATERAL (
    SELECT ${DELIVERY_COLUMNS}
      FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = endpoint.shown
     ORDER BY created_at DESC, event_id DESC LIMIT ${String(SHOWN)}) AS recent`;

/** The newest deliveries of each of these endpoints, newest first. */
export async function recentDeliveries(
  tx: Transaction,
  endpointIds: readonly string[],
): Promise<Map<string, DeliveryRow[]>> {
  const rows = await tx.query<DeliveryRow>(RECENT, [tx.organizationId, endpointIds]);
  return Map.groupBy(rows, (row) => row.endpoint_id);
}
