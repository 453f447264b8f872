import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import { Problem, type FieldError } from '@customer-platform/problem-json';
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

const OF = `SELECT o.id, ${ANCESTORS} AS ancestors FROM organizations o WHERE o.organization_id = ANY ($1::uuid[])`;

const UNBOUND: RateLimits = { key_per_second: Infinity, organization_per_second: Infinity };

/**
 * The limits of each organization above: its own, or less where one above it has less. The root is the platform's own:
 * it binds those below only by what an operator has said of it, not by the default.
 */
function boundsOf(ancestors: readonly AncestorRow[]): { limits: RateLimits; chain: AncestorLimit[] } {
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

/** Those above each of these organizations. */
export async function ancestorsOf(
  tx: WorkerTransaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly AncestorRow[]>> {
  const rows = await tx.query<{ id: string; ancestors: AncestorRow[] | null }>(OF, [ids]);
  return new Map(rows.map(({ id, ancestors }) => [id, ancestors ?? []]));
}

/**
 * An organization gets no higher limits than those above it have. It is read without a lock: one above that is lowered
 * at the same moment binds all the same, for what holds is the lowest of all.
 * @throws Problem `validation_failed`
 */
export function demandWithin(
  wished: { [limit in keyof RateLimits]?: number | null | undefined },
  ancestors: readonly AncestorRow[],
): void {
  const { limits } = boundsOf(ancestors);
  const errors = (['key_per_second', 'organization_per_second'] as const)
    .filter((limit) => (wished[limit] ?? 0) > limits[limit])
    .map((limit): FieldError => {
      const detail = `\`${limit}\` is at most ${String(limits[limit])}, the limit of the organizations above.`;
      return { pointer: `/settings/rate_limits/${limit}`, code: 'out_of_range', detail };
    });
  if (errors.length > 0) throw Problem.validation(errors);
}

/** So many active organizations stand directly below one (identity.md §2). */
const MOST_CHILDREN = 1_000;
const CHILDREN =
  'SELECT count(*)::int AS count FROM organizations WHERE parent_id = $1 AND deleted_at IS NULL';

/**
 * Room for one more below a parent whose row the transaction holds the lock of. The root, whose tenants are the
 * platform's own business, has no such limit.
 * @throws Problem `limit_reached`
 */
export async function demandRoomBelow(
  tx: Transaction,
  parent: { id: string; isRoot: boolean },
): Promise<void> {
  if (parent.isRoot) return;
  const [row] = await tx.query<{ count: number }>(CHILDREN, [parent.id]);
  if (!row || row.count < MOST_CHILDREN) return;
  const detail = `At most ${String(MOST_CHILDREN)} organizations stand directly below one.`;
  throw new Problem('limit_reached', { detail, members: { limit: MOST_CHILDREN } });
}
