import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, pageOf, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { DELIVERY_ID } from './delivery-id.js';
import { keepEndpoints } from './endpoint-locks.js';
import { DELIVERY_COLUMNS, toTriedDto, type DeliveryRow } from './delivery-row.js';
import { DeliverySignal } from './delivery-signal.js';
import type { TriedDeliveryDto, WebhookTryDto } from './webhook-delivery.dto.js';

const LIVE = `
  SELECT enabled AND deleted_at IS NULL AS live FROM webhook_endpoints WHERE organization_id = $1 AND id = $2`;

const OF_ENDPOINT = `
  SELECT ${DELIVERY_COLUMNS}, tries FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = $2`;

/** What a delivery that waits is shown as while its endpoint is disabled. */
const PAUSED = `CASE state WHEN 'pending' THEN 'paused' ELSE state END`;

const LOCK = `
  SELECT d.*, e.enabled, e.deleted_at IS NOT NULL AS deleted FROM (
    SELECT ${DELIVERY_COLUMNS}, tries, organization_id, claim IS NOT NULL AS "underWay", payload IS NOT NULL AS kept
      FROM webhook_deliveries WHERE organization_id = $1 AND ${DELIVERY_ID} = $2 FOR UPDATE) d
    JOIN webhook_endpoints e ON e.organization_id = d.organization_id AND e.id = d.endpoint_id`;

const AGAIN = `
  UPDATE webhook_deliveries SET state = 'pending', attempts = CASE state WHEN 'pending' THEN attempts ELSE 0 END,
         due_at = $4, claim = NULL
   WHERE organization_id = $1 AND endpoint_id = $2 AND event_id = $3
  RETURNING ${DELIVERY_COLUMNS}, tries`;

type TriedRow = DeliveryRow & { tries: WebhookTryDto[] };
type LockedRow = TriedRow & { underWay: boolean; kept: boolean; enabled: boolean; deleted: boolean };

/** What has become of an endpoint's events, and how one is told again. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly signal: DeliverySignal,
    private readonly clock: Clock,
  ) {}

  /** Of one endpoint, soft-deleted or not. @throws Problem `not_found` */
  async list(context: RequestContext, endpointId: string, query: ListQuery): Promise<Page<TriedDeliveryDto>> {
    const parameters = [context.organizationId, endpointId];
    return this.database.inOrganization(context, async (tx) => {
      const [endpoint] = await tx.query<{ live: boolean }>(LIVE, parameters);
      if (!endpoint) throw new Problem('not_found');
      const { live } = endpoint;
      return pageOf<TriedRow, TriedDeliveryDto>(tx, OF_ENDPOINT, live ? query : byShownState(query), {
        parameters,
        map: (row) => toTriedDto(row, live),
      });
    });
  }

  /**
   * Tells it again, under the same `webhook-id`, by a schedule that begins anew; what waits is due now, and what is under
   * way goes on as it is. Repeatable: of two at once one begins it.
   * @throws Problem `not_found`; `invalid_state` where its endpoint is off, or what was said is kept no more
   */
  async redeliver(context: RequestContext, id: string): Promise<TriedDeliveryDto> {
    return this.database.inOrganization(context, async (tx) => {
      // An endpoint that is being switched off waits, and then finds what was begun here.
      await keepEndpoints(tx, [context.organizationId]);
      const [row] = await tx.query<LockedRow>(LOCK, [context.organizationId, id]);
      if (!row) throw new Problem('not_found');
      demandTellable(row);
      if (row.state === 'pending' && row.underWay) return toTriedDto(row, true);
      return toTriedDto(await this.begin(tx, context, row), true);
    });
  }

  private async begin(tx: Transaction, context: RequestContext, row: LockedRow): Promise<TriedRow> {
    const { endpoint_id: endpointId, event_id: eventId } = row;
    const place = [context.organizationId, endpointId, eventId];
    const [begun = row] = await tx.query<TriedRow>(AGAIN, [...place, this.clock.now()]);
    await this.audit.record(tx, context, {
      action: 'messaging.webhooks.update',
      resource: { type: 'webhooks', id: endpointId },
      changedFields: ['deliveries'],
    });
    tx.afterCommit(() => this.signal.raise());
    return begun;
  }
}

function demandTellable({ enabled, deleted, kept }: LockedRow): void {
  if (deleted) throw refusal('The endpoint is deleted.');
  if (!enabled) throw refusal('The endpoint is disabled.');
  if (!kept) throw refusal('What was said is not kept any more: 7 days, and not after an erasure.');
}

const refusal = (detail: string): Problem => new Problem('invalid_state', { detail });

/** The same request, over the states as a disabled endpoint's deliveries are shown. */
function byShownState(query: ListQuery): ListQuery {
  const filters = query.filters.map((filter) =>
    filter.field === 'state' ? { ...filter, column: PAUSED } : filter,
  );
  return { ...query, filters };
}
