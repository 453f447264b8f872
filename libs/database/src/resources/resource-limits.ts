import { Problem } from '@customer-platform/problem-json';
import type { RemoteHold } from '../references/remote-references.js';
import type { Transaction } from '../transaction.js';
import { resourceReferenced, type ReferenceCount } from './constraints.js';
import type { ResourceDefinition, SoftDeletable } from './resource-definition.js';

/**
 * Refuses one row more than the limit, however many are created at once: creations of one resource in one
 * organization take turns.
 * @throws Problem `limit_reached`
 */
export async function enforceLimit<E extends SoftDeletable>(
  tx: Transaction,
  definition: ResourceDefinition<E>,
  table: string,
  exceptId?: string,
): Promise<void> {
  if (definition.limit === undefined) return;
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `limit:${table}:${tx.organizationId}`,
  ]);
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table}
     WHERE organization_id = $1 AND deleted_at IS NULL AND id IS DISTINCT FROM $2::uuid`,
    [tx.organizationId, exceptId ?? null],
  );
  if ((row?.count ?? 0) >= definition.limit) {
    throw new Problem('limit_reached', {
      detail: `At most ${definition.limit} ${definition.resource.replaceAll('_', ' ')} can be active.`,
      members: { limit: definition.limit },
    });
  }
}

/**
 * Counts what points to a row whose lock the transaction holds: a foreign key's insert waits for that lock, so none
 * can appear between the count and the delete. In other modules the hold that is answered keeps them back.
 * @throws Problem `resource_referenced` with the counts, `dependency_unavailable` when a module is silent
 */
export async function countReferences<E extends SoftDeletable>(
  tx: Transaction,
  definition: ResourceDefinition<E>,
  id: string,
  further: readonly ReferenceCount[] = [],
): Promise<RemoteHold | undefined> {
  const references = [...further];
  for (const { table, column, resource } of definition.referencedBy ?? []) {
    const [row] = await tx.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1 AND ${column} = $2`,
      [tx.organizationId, id],
    );
    references.push({ module: definition.module, resource, count: row?.count ?? 0 });
  }
  const hold = await definition.remoteReferences?.hold({
    organizationId: tx.organizationId,
    resource: `${definition.module}.${definition.resource}`,
    id,
  });
  const counted = [...references, ...(hold?.references ?? [])].filter(({ count }) => count > 0);
  if (counted.length === 0) return hold;
  await hold?.release();
  throw resourceReferenced(counted);
}
