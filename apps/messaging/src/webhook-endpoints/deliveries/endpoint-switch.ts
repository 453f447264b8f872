import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Clock, Database } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { disabledEvent } from '../disabled-event.js';
import type { DisabledReason } from '../webhook-endpoint.entity.js';
import { holdEndpoints } from './endpoint-locks.js';
import type { ClaimedDelivery } from './delivery-queue.js';
import { PausedDeliveries } from './paused-deliveries.js';

const DISABLE = `
  UPDATE webhook_endpoints SET enabled = false, disabled_reason = $3,
         updated_at = greatest($4, updated_at + interval '1 millisecond')
   WHERE organization_id = $1 AND id = $2 AND enabled RETURNING id`;

/** Switches an endpoint off where nobody answers for it any more; its owner switches it on again. */
@Injectable()
export class EndpointSwitch {
  constructor(
    private readonly database: Database,
    private readonly paused: PausedDeliveries,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Repeatable: what is off already stays as it is. What waits is kept for the day it is switched on. */
  async disable(cause: ClaimedDelivery, reason: Exclude<DisabledReason, 'manual'>): Promise<void> {
    const { organization_id: organizationId, endpoint_id: id, correlation_id: correlationId } = cause;
    await this.database.inOrganization({ organizationId }, async (tx) => {
      const rows = await tx.query(DISABLE, [organizationId, id, reason, this.clock.now()]);
      if (rows.length === 0) return;
      await holdEndpoints(tx);
      await this.paused.pause(tx, id);
      await this.audit.record(tx, systemActor(organizationId, correlationId, 'messaging.webhooks'), {
        action: 'messaging.webhooks.update',
        resource: { type: 'webhooks', id },
        changedFields: ['enabled', 'disabled_reason'],
      });
      await this.outbox.append(tx, { ...disabledEvent(id, reason), organizationId, correlationId });
      tx.afterCommit(() => log.warn({ endpoint: id, reason }, 'A webhook endpoint was disabled'));
    });
  }
}
