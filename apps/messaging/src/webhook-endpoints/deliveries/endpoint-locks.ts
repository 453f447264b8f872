import { holdInTurn, keepInTurn, type Transaction } from '@customer-platform/database';

const endpointsOf = (organizationId: string): string => `webhook-endpoints:${organizationId}`;

/**
 * Keeps the endpoints of organizations as they are while deliveries are put before them. Who locks endpoints' rows does so
 * before it holds them (`holdEndpoints`): rows first, then this.
 */
export function keepEndpoints(tx: Transaction, organizationIds: readonly string[]): Promise<void> {
  return keepInTurn(tx, organizationIds.map(endpointsOf));
}

/** An endpoint that changes waits for what is being put before it, so that what its change leads to finds it. */
export function holdEndpoints(tx: Transaction): Promise<void> {
  return holdInTurn(tx, endpointsOf(tx.organizationId));
}
