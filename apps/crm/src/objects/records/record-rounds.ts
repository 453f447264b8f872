import { newId, type Transaction } from '@customer-platform/database';
import type { NewDomainEvent, Outbox } from '@customer-platform/event-bus';
import type { FieldValues } from '../../fields/field.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { writeDerivedRows, type RecordChange } from './derived-rows.js';

/** Records of one round, their values are in memory; also those that one piece of an erasure clears. */
export const AT_ONCE = 500;

/** Not sorted: of a record that hundreds of thousands refer to, those of one piece alone are looked at. */
const TARGETING = `
  SELECT record_id, field FROM object_references
   WHERE organization_id = $1 AND target_id = ANY($2::uuid[]) AND record_id <> ALL($2::uuid[])
   LIMIT ${String(AT_ONCE + 1)}`;
/** In one order for all who lock several. Who comes to refer to one meanwhile does not wait. */
const RECORDS = `
  SELECT id, definition_id, "values", deleted_at IS NULL AS live FROM object_records
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
/** Another state of a record has another ETag: its time is later than the last one's in any case. */
const WRITE = `
  UPDATE object_records AS record SET "values" = given."values",
         updated_at = greatest(clock_timestamp()::timestamptz(3), record.updated_at + interval '1 millisecond')
    FROM unnest($2::uuid[], $3::jsonb[]) AS given (id, "values")
   WHERE record.organization_id = $1 AND record.id = given.id AND record."values" <> given."values"`;
const DELETE = 'DELETE FROM object_records WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/** A record that is locked. */
export interface RecordRow {
  readonly id: string;
  readonly definition_id: string;
  readonly values: FieldValues;
  readonly live: boolean;
}

/** What a round of records becomes: other values, or nothing. */
type Becomes = (record: RecordRow, definition: KnownDefinition) => FieldValues | undefined;

/** Records that one thing is done to. */
export interface Round {
  readonly ids: readonly string[];
  readonly known: ReadonlyMap<string, KnownDefinition>;
  /** Whether their references follow from their values. */
  readonly references?: boolean;
  /** Where it is told of. */
  readonly outbox?: Outbox;
}

/** Makes records what they become, and writes what stands beside them, in the order of their ids. */
export async function inRounds(
  tx: Transaction,
  { ids, known, references = true, outbox }: Round,
  becomes: Becomes,
): Promise<void> {
  const sorted = [...ids].sort();
  for (let from = 0; from < sorted.length; from += AT_ONCE) {
    const rows = await tx.query<RecordRow>(RECORDS, [tx.organizationId, sorted.slice(from, from + AT_ONCE)]);
    const changes = rows.flatMap((row): RecordChange[] => {
      const definition = known.get(row.definition_id);
      if (!definition) throw new Error('A record has no definition');
      const before = { id: row.id, values: row.values, live: row.live };
      const values = becomes(row, definition);
      return [{ definition, before, ...(values ? { after: { ...before, values } } : {}) }];
    });
    await writeDerivedRows(tx, changes, { references, claimsHeld: true });
    await writeRecords(tx, changes);
    await outbox?.append(
      tx,
      changes.flatMap((change) => toldOf(tx, change)),
    );
  }
}

/** What an erasure tells of a record (crm.md §6): it is purged, or has lost values. */
function toldOf(
  { organizationId }: Transaction,
  { definition, before, after }: RecordChange,
): NewDomainEvent[] {
  if (!before) return [];
  const { slug } = definition;
  const lost = Object.keys(before.values).filter((key) => after && !(key in after.values));
  if (after && lost.length === 0) return [];
  const changed = lost.sort().map((key) => `values.${key}`);
  return [
    {
      type: after ? 'crm.object.updated.v1' : 'crm.object.purged.v1',
      organizationId,
      key: before.id,
      subject: `objects/${slug}/${before.id}`,
      correlationId: newId(),
      data: { id: before.id, slug, changed },
    },
  ];
}

async function writeRecords(tx: Transaction, changes: readonly RecordChange[]): Promise<void> {
  const kept = changes.flatMap(({ after }) => after ?? []);
  if (kept.length > 0)
    await tx.query(WRITE, [
      tx.organizationId,
      kept.map(({ id }) => id),
      kept.map(({ values }) => JSON.stringify(values)),
    ]);
  const gone = changes.flatMap(({ before, after }) => (before && !after ? [before.id] : []));
  if (gone.length > 0) await tx.query(DELETE, [tx.organizationId, gone]);
}

/**
 * Removes records; those that refer to them lose that value, required or not.
 * @returns false where more refer to them than one piece clears: these are cleared first, then it is to be called again
 */
export async function removeRecords(tx: Transaction, going: Round): Promise<boolean> {
  if (going.ids.length === 0) return true;
  const found = await tx.query<{ record_id: string; field: string }>(TARGETING, [
    tx.organizationId,
    going.ids,
  ]);
  const byRecord = Map.groupBy(found.slice(0, AT_ONCE), ({ record_id: id }) => id);
  const gone = new Set<unknown>(going.ids);
  await inRounds(tx, { ...going, ids: [...byRecord.keys()] }, ({ id, values }) =>
    without(
      values,
      (byRecord.get(id) ?? []).map(({ field }) => field).filter((key) => gone.has(values[key])),
    ),
  );
  if (found.length > AT_ONCE) return false;
  await inRounds(tx, going, () => undefined);
  return true;
}

/** The values but those of these keys. */
export function without(values: FieldValues, keys: readonly string[]): FieldValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));
}
