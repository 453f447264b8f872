import type { RecentDelivery } from './deliveries/recent-deliveries.js';
import type { WebhookDeliveryDto, WebhookEndpointDto } from './webhook-endpoint.dto.js';
import type { WebhookEndpointEntity } from './webhook-endpoint.entity.js';

/** An endpoint as it is answered; its secret is not part of it. */
export function toWebhookEndpointDto(
  row: WebhookEndpointEntity,
  deliveries: readonly RecentDelivery[],
): WebhookEndpointDto {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    signing: row.signing,
    disabled_reason: row.disabledReason,
    recent_deliveries: deliveries.map(toDeliveryDto),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

function toDeliveryDto(delivery: RecentDelivery): WebhookDeliveryDto {
  return {
    event_id: delivery.event_id,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    status_code: delivery.status_code,
    error: delivery.error,
    created_at: delivery.created_at.toISOString(),
    attempted_at: delivery.attempted_at?.toISOString() ?? null,
    next_attempt_at: delivery.due_at?.toISOString() ?? null,
  };
}
