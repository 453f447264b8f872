import type { Transaction } from '@customer-platform/database';
import type { FieldIndex } from '../definitions/known-definition.js';

/** How far the building of an index has come. */
export interface Progress {
  readonly processed: number;
  readonly total: number;
}

/** What is to be done with the rows of one number: filled from the records that there are, or taken away. */
export interface IndexJob {
  readonly organization_id: string;
  readonly definition_id: string;
  readonly number: number;
  readonly work: 'build' | 'drop';
  readonly cursor_id: string | null;
  readonly processed: string;
}

/** The columns of an {@link IndexJob}. */
export const JOB_COLUMNS = 'organization_id, definition_id, number, work, cursor_id, processed';

const BUILD = `
  INSERT INTO object_index_jobs (organization_id, definition_id, number, work, total)
  SELECT $1, $2, number, 'build', $4 FROM unnest($3::integer[]) AS given (number)`;
const DROP = `
  INSERT INTO object_index_jobs (organization_id, definition_id, number, work)
  SELECT $1, $2, number, 'drop' FROM unnest($3::integer[]) AS given (number)
  ON CONFLICT (organization_id, definition_id, number) DO UPDATE SET work = 'drop', cursor_id = NULL`;
const PROGRESS = `
  SELECT definition_id AS id, number, processed, greatest(total, processed) AS total FROM object_index_jobs
   WHERE organization_id = $1 AND definition_id = ANY($2::uuid[]) AND work = 'build'`;

/** Has indexes filled from the records that there are; who writes records fills them too from here on. */
export async function beginBuilding(
  tx: Transaction,
  definitionId: string,
  indexes: readonly FieldIndex[],
  records: number,
): Promise<void> {
  if (indexes.length === 0) return;
  const numbers = indexes.map(({ number }) => number);
  await tx.query(BUILD, [tx.organizationId, definitionId, numbers, records]);
}

/** Has the rows of numbers removed that nothing goes by any more. */
export async function beginDropping(
  tx: Transaction,
  definitionId: string,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length > 0) await tx.query(DROP, [tx.organizationId, definitionId, numbers]);
}

/** By definition and number, of what is being built. */
export async function readProgress(
  tx: Transaction,
  definitionIds: readonly string[],
): Promise<Map<string, Map<number, Progress>>> {
  const rows = await tx.query<{ id: string; number: number; processed: string; total: string }>(PROGRESS, [
    tx.organizationId,
    definitionIds,
  ]);
  const entries = [...Map.groupBy(rows, ({ id }) => id)].map(([id, own]): [string, Map<number, Progress>] => [
    id,
    new Map(own.map(({ number, processed, total }) => [number, { processed: +processed, total: +total }])),
  ]);
  return new Map(entries);
}
