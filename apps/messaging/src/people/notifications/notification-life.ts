import type { RetentionOptions } from '@customer-platform/database';

/** How long a message stays in the inbox (messaging.md §11): 90 days. */
export const NOTIFICATION_LIFE_MS = 90 * 86_400_000;

/** What nobody is shown any more. */
export const OLD_NOTIFICATIONS: RetentionOptions = {
  name: 'notification-retention',
  table: 'notifications',
  where: 'old.created_at < $1',
  oldestBy: 'created_at',
  keptMs: NOTIFICATION_LIFE_MS,
};
