import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';
import { DeliverySignal } from './delivery-signal.js';

/** What becomes of the deliveries of an endpoint that is switched off, on again, or removed. */
@Injectable()
export class PausedDeliveries {
  constructor(
    private readonly clock: Clock,
    private readonly signal: DeliverySignal,
  ) {}

  /** Nothing is tried any more; what waits is kept. A try under way ends as it ends. */
  async pause(tx: Transaction, endpointId: string): Promise<void> {
    await tx.query(
      `UPDATE webhook_deliveries SET due_at = NULL
        WHERE organization_id = $1 AND endpoint_id = $2 AND due_at IS NOT NULL`,
      [tx.organizationId, endpointId],
    );
    await this.forgetFailures(tx, endpointId);
  }

  /** What waited is due. */
  async resume(tx: Transaction, endpointId: string): Promise<void> {
    await tx.query(
      `UPDATE webhook_deliveries SET due_at = $3
        WHERE organization_id = $1 AND endpoint_id = $2 AND state = 'pending' AND due_at IS NULL`,
      [tx.organizationId, endpointId, this.clock.now()],
    );
    await this.forgetFailures(tx, endpointId);
    tx.afterCommit(() => this.signal.raise());
  }

  /** The endpoint is going: so is everything about it. */
  async forget(tx: Transaction, endpointId: string): Promise<void> {
    await this.forgetFailures(tx, endpointId);
    await tx.query('DELETE FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = $2', [
      tx.organizationId,
      endpointId,
    ]);
  }

  private async forgetFailures(tx: Transaction, endpointId: string): Promise<void> {
    await tx.query('DELETE FROM webhook_failing_since WHERE organization_id = $1 AND endpoint_id = $2', [
      tx.organizationId,
      endpointId,
    ]);
  }
}
