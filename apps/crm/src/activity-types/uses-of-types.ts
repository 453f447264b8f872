import type { Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { FieldDemands } from '../fields/field-changes.js';

const counted = (condition: string): string => `
  SELECT key AS field, count(*)::int AS count FROM activities, unnest($4::text[]) AS key
   WHERE organization_id = $1 AND type_id = $2 AND updated_at >= $3 AND ${condition}
   GROUP BY key ORDER BY key LIMIT 1`;

const HOLDING = counted('values ? key');
const LACKING = counted('deleted_at IS NULL AND NOT values ? key');

const WITH_OUTCOME = `
  SELECT count(*)::int AS count FROM activities
   WHERE organization_id = $1 AND type_id = $2 AND updated_at >= $3 AND outcome = ANY($4::text[])`;

interface Count {
  field: string;
  count: number;
}

/** The activities of a type, all of them or those that have changed since. */
export interface ActivitiesOfType {
  readonly typeId: string;
  readonly since?: Date | undefined;
}

const parametersOf = (tx: Transaction, { typeId, since }: ActivitiesOfType): unknown[] => [
  ...[tx.organizationId, typeId, since ?? '-infinity'],
];

/**
 * Refuses a change of a type's fields that its activities do not allow. Under the lock of the type, which who writes an
 * activity of the type waits for, none can be written by the former definition after the count.
 * @throws Problem `field_in_use`, `records_incompatible`, each with `field` and `count`
 */
export async function demandFields(
  tx: Transaction,
  activities: ActivitiesOfType,
  demands: FieldDemands,
): Promise<void> {
  const first = async (sql: string, keys: readonly string[]): Promise<Count | undefined> =>
    keys.length === 0 ? undefined : (await tx.query<Count>(sql, [...parametersOf(tx, activities), keys]))[0];
  const held = await first(HOLDING, demands.unused);
  if (held) throw new Problem('field_in_use', { detail: inUse(held), members: { ...held } });
  const lacked = await first(LACKING, demands.filled);
  if (!lacked) return;
  const detail = `${String(lacked.count)} active activities have no value of ${lacked.field}.`;
  throw new Problem('records_incompatible', { detail, members: { ...lacked } });
}

/**
 * Refuses to take away outcomes that activities of the type, soft-deleted ones too, have ended with.
 * @throws Problem `field_in_use`
 */
export async function demandNoneEnded(
  tx: Transaction,
  activities: ActivitiesOfType,
  outcomes: readonly string[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const [row] = await tx.query<{ count: number }>(WITH_OUTCOME, [...parametersOf(tx, activities), outcomes]);
  const held = { field: 'outcome', count: row?.count ?? 0 };
  if (held.count > 0) throw new Problem('field_in_use', { detail: inUse(held), members: held });
}

function inUse({ field, count }: Count): string {
  return `${String(count)} activities hold a value of ${field}, soft-deleted ones included.`;
}
