import { turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Transaction } from '../transaction.js';
import { constraintProblem, duplicateValue, violatedUnique, type UniqueConstraint } from './constraints.js';
import type { EntityTable } from './entity-table.js';
import type { ResourceDefinition, SoftDeletable } from './resource-definition.js';

/** A conflict that is gone when looked at was deleted in between; a few tries outlast any real sequence of that. */
const TRIES = 3;

/**
 * Runs an insert or update that a unique index may refuse, and says whose value it is.
 * @throws Problem `duplicate_value`, or `restore_conflict` with `conflicting_id` when `restoring`
 */
export async function writeUnique<E extends SoftDeletable>(
  tx: Transaction,
  definition: ResourceDefinition<E>,
  table: EntityTable<E>,
  row: E,
  write: () => Promise<void>,
  restoring = false,
): Promise<void> {
  const constraints = definition.constraints ?? {};
  const asks = restoring || Object.values(constraints.unique ?? {}).some((unique) => unique.tellConflicting);
  for await (const { isLast } of turns({ most: TRIES })) {
    try {
      await (asks ? tx.savepoint(write) : write());
      return;
    } catch (error) {
      const unique = violatedUnique(error, constraints);
      if (!unique) throw constraintProblem(error, constraints);
      const conflictingId = asks ? await conflicting(tx, definition, table, unique, row) : undefined;
      const gone = asks && conflictingId === undefined;
      if (gone && !isLast) continue;
      throw restoring ? restoreConflict(unique, conflictingId) : duplicateValue(unique, conflictingId);
    }
  }
}

/** The active row within reach that holds the value; looked up through the index's own expression. */
async function conflicting<E extends SoftDeletable>(
  tx: Transaction,
  { reach }: ResourceDefinition<E>,
  table: EntityTable<E>,
  unique: UniqueConstraint,
  row: E,
): Promise<string | undefined> {
  const value = unique.value ?? unique.field;
  const [found] = await tx.query<{ id: string }>(
    `SELECT id FROM ${table.name}
     WHERE ${reach?.condition ?? 'organization_id = $1'} AND deleted_at IS NULL AND id <> $2
       AND (${value}) = (SELECT (${value}) FROM jsonb_populate_record(NULL::${table.name}, $3::jsonb))
     LIMIT 1`,
    [tx.organizationId, row.id, JSON.stringify(table.toColumns(row))],
  );
  return found?.id;
}

function restoreConflict(unique: UniqueConstraint, conflictingId: string | undefined): Problem {
  return new Problem('restore_conflict', {
    detail: `The value of ${unique.field} has been taken since.`,
    members: conflictingId === undefined ? {} : { conflicting_id: conflictingId },
  });
}
