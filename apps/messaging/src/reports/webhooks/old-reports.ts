import type { RetentionOptions } from '@customer-platform/database';

const HOUR_MS = 3_600_000;

/** Reports whose send never came (messaging.md §7). */
export const UNKNOWN_REPORTS: RetentionOptions = {
  name: 'unknown-report-retention',
  table: 'provider_reports',
  where: 'old.received_at < $1 AND old.due_at IS NOT NULL AND old.applied_at IS NULL',
  oldestBy: 'due_at',
  keptMs: 72 * HOUR_MS,
  everyMs: HOUR_MS,
};

/** All reports, once far longer has passed than any provider repeats one. */
export const OLD_REPORTS: RetentionOptions = {
  name: 'provider-report-retention',
  table: 'provider_reports',
  where: 'old.received_at < $1',
  oldestBy: 'received_at',
  keptMs: 90 * 24 * HOUR_MS,
  everyMs: HOUR_MS,
};

/** Tokens whose time is no longer fresh. */
export const USED_TOKENS: RetentionOptions = {
  name: 'webhook-token-retention',
  table: 'webhook_tokens',
  where: 'old.expires_at < $1',
  oldestBy: 'expires_at',
  keptMs: 0,
  everyMs: HOUR_MS,
};
