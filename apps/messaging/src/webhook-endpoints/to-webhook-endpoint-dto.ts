import { toDeliveryDto, type DeliveryRow } from './deliveries/delivery-row.js';
import type { WebhookEndpointDto } from './webhook-endpoint.dto.js';
import { isLive, type WebhookEndpointEntity } from './webhook-endpoint.entity.js';

/** An endpoint as it is answered; its secret is not part of it. */
export function toWebhookEndpointDto(
  row: WebhookEndpointEntity,
  deliveries: readonly DeliveryRow[],
): WebhookEndpointDto {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    signing: row.signing,
    public_key: row.signing === 'v1a' ? (row.secrets[0]?.public_key ?? null) : null,
    disabled_reason: row.disabledReason,
    recent_deliveries: deliveries.map((delivery) => toDeliveryDto(delivery, isLive(row))),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}
