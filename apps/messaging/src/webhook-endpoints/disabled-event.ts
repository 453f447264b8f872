import type { DisabledReason } from './webhook-endpoint.entity.js';

/** What everybody else is told when an endpoint gets nothing any more. */
export function disabledEvent(id: string, reason: DisabledReason) {
  return {
    type: 'messaging.webhook_endpoint.disabled.v1',
    key: id,
    subject: `webhook-endpoints/${id}`,
    data: { webhook_endpoint_id: id, reason },
  } as const;
}
