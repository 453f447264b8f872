import type { RetentionOptions } from '@customer-platform/database';

/**
 * What has come to its end long ago, and what a disabled endpoint has kept waiting as long. Kept twice as long as Kafka
 * keeps an event: until then an event that comes again must be known.
 */
export const OLD_DELIVERIES: RetentionOptions = {
  name: 'webhook-delivery-retention',
  table: 'webhook_deliveries',
  where: `old.created_at < $1 AND (old.due_at IS NULL OR NOT EXISTS (
    SELECT FROM webhook_endpoints e WHERE e.organization_id = old.organization_id AND e.id = old.endpoint_id
       AND e.enabled AND e.deleted_at IS NULL))`,
  oldestBy: 'created_at',
  keptMs: 14 * 86_400_000,
};

/** How far back what failed can be told again (messaging.md §8). */
export const BODY_KEPT_MS = 7 * 86_400_000;

/** What was said goes earlier than that it was said: until then it can be told again. */
export const OLD_BODIES: RetentionOptions = {
  name: 'webhook-body-retention',
  table: 'webhook_deliveries',
  where: `old.created_at < $1 AND old.payload IS NOT NULL AND old.state <> 'pending'`,
  set: 'payload = NULL, contact_id = NULL',
  oldestBy: 'created_at',
  keptMs: BODY_KEPT_MS,
};
