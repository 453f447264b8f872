import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { ANCESTORS, boundsOf, type AncestorRow } from '../vocabulary/organizations/effective-limits.js';
import type { RateLimits } from '../vocabulary/organizations/organization-settings.js';

const OF = `SELECT o.id, ${ANCESTORS} AS ancestors FROM organizations o WHERE o.organization_id = ANY ($1::uuid[])`;

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
/** And so many beneath a tenant, on whatever level: what is bounded by tenant has to know whose each is. */
const MOST_BENEATH = 10_000;
/** Those who found beneath one tenant take turns, whatever the parent. */
const TENANTS_TURN = `
  SELECT pg_advisory_xact_lock(hashtextextended('organizations beneath ' || path[2]::text, 0))
    FROM organizations WHERE organization_id = $1`;
const BENEATH = `
  SELECT count(*)::int AS count FROM organizations AS own
   WHERE own.path @> ARRAY[(SELECT path[2] FROM organizations WHERE organization_id = $1)] AND own.organization_id <> own.path[2]
     AND own.deleted_at IS NULL`;

/**
 * Room for one more below a parent whose row the transaction holds the lock of, and beneath its tenant. The root, whose tenants are the
 * platform's own business, has no such limit.
 * @throws Problem `limit_reached`
 */
export async function demandRoomBelow(
  tx: Transaction,
  parent: { id: string; isRoot: boolean },
): Promise<void> {
  if (parent.isRoot) return;
  const [row] = await tx.query<{ count: number }>(CHILDREN, [parent.id]);
  if (row && row.count >= MOST_CHILDREN) throw tooMany(MOST_CHILDREN, 'directly below one');
  await tx.query(TENANTS_TURN, [parent.id]);
  const [all] = await tx.query<{ count: number }>(BENEATH, [parent.id]);
  if (all && all.count >= MOST_BENEATH) throw tooMany(MOST_BENEATH, 'beneath one that stands below the root');
}

function tooMany(limit: number, where: string): Problem {
  const detail = `At most ${String(limit)} organizations stand ${where}.`;
  return new Problem('limit_reached', { detail, members: { limit } });
}
