import { DEFAULT_SETTINGS, type RateLimits, type StoredSettings } from './organization-settings.js';

/** An organization above another, with what somebody has said of its limits. */
export interface AncestorRow {
  id: string;
  is_root: boolean;
  rate_limits: Partial<RateLimits> | null;
}

/** What all that an organization and those below it send may be, in events per second. */
interface AncestorLimit {
  id: string;
  organization_per_second: number;
}

/** The organizations above that of row `o`, the root first; null for the root itself. */
export const ANCESTORS = `(
  SELECT json_agg(json_build_object('id', a.id, 'is_root', a.parent_id IS NULL,
                                    'rate_limits', a.settings -> 'rate_limits') ORDER BY cardinality(a.path))
    FROM organizations a WHERE a.organization_id = ANY (o.path) AND a.organization_id <> o.organization_id)`;

const UNBOUND: RateLimits = { key_per_second: Infinity, organization_per_second: Infinity };

/**
 * The limits of each organization above: its own, or less where one above it has less. The root is the platform's own:
 * it binds those below only by what an operator has said of it, not by the default.
 */
export function boundsOf(ancestors: readonly AncestorRow[]): { limits: RateLimits; chain: AncestorLimit[] } {
  let limits = UNBOUND;
  const chain: AncestorLimit[] = [];
  for (const { id, is_root, rate_limits } of ancestors) {
    limits = lower(limits, { ...(is_root ? UNBOUND : DEFAULT_SETTINGS.rate_limits), ...rate_limits });
    if (Number.isFinite(limits.organization_per_second)) {
      chain.push({ id, organization_per_second: limits.organization_per_second });
    }
  }
  return { limits, chain };
}

function lower(one: RateLimits, other: RateLimits): RateLimits {
  return {
    key_per_second: Math.min(one.key_per_second, other.key_per_second),
    organization_per_second: Math.min(one.organization_per_second, other.organization_per_second),
  };
}

/** What holds for an organization: its own limits, no more than any above it has; and whose limits it uses up too. */
export function effectiveLimits(
  stored: StoredSettings,
  ancestors: readonly AncestorRow[] | null,
): { limits: RateLimits; chain: AncestorLimit[] } {
  const { limits, chain } = boundsOf(ancestors ?? []);
  return { limits: lower(limits, { ...DEFAULT_SETTINGS.rate_limits, ...stored.rate_limits }), chain };
}
