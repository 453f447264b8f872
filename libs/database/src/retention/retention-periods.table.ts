import { rowSecurity } from '../migrations/row-security.js';

/**
 * What an organization wants kept and for how long, as the module has learnt it, and what has been removed by that.
 * `days` is in force; `wanted_days` is what identity said last and since when, the same after a day. What has been
 * removed stays known when the period ends: the gap does.
 */
const RETENTION_PERIODS = `CREATE TABLE retention_periods (
  organization_id uuid NOT NULL,
  kind text NOT NULL,
  wanted_days integer CHECK (wanted_days >= 1),
  wanted_since timestamptz(3) NOT NULL,
  days integer CHECK (days >= 1),
  removed bigint NOT NULL DEFAULT 0,
  -- The latest time of what has been removed, as its list shows times.
  removed_until timestamptz(3),
  PRIMARY KEY (organization_id, kind)
)`;

/** The statements for the table of a module that removes by the periods of organizations; for a migration of its own. */
export function retentionPeriodsTable(): string[] {
  return [RETENTION_PERIODS, ...rowSecurity('retention_periods', { worker: true })];
}
