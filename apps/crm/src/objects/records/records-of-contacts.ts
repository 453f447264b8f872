import type { ContactRows } from '@customer-platform/contact-refs';
import { newId, type ReferenceSource, type Transaction } from '@customer-platform/database';
import type { NewDomainEvent, Outbox } from '@customer-platform/event-bus';
import type { FieldValues } from '../../fields/field.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import type { KnownDefinitions } from '../definitions/known-definitions.js';
import { writeSideRows, type RecordChange } from './side-rows.js';

/** What core is told before it purges a contact. */
export const OBJECTS_ON_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'objects',
  count: `SELECT count(DISTINCT record_id)::int AS count FROM object_references
           WHERE organization_id = $1 AND contact_id = $2`,
};

/** Records of one round: their values are in memory. */
const AT_ONCE = 500;

const ORIGINS = `
  SELECT DISTINCT origin_contact_id AS origin FROM object_references
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;
const REFERENCES = `
  SELECT definition_id, record_id, field, contact_id, origin_contact_id AS origin FROM object_references
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) ORDER BY record_id, field`;
const TARGETING = `
  SELECT record_id, field FROM object_references
   WHERE organization_id = $1 AND target_id = ANY($2::uuid[]) ORDER BY record_id, field`;
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
const MOVE = `
  UPDATE object_references AS own SET contact_id = given.contact_id
    FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[]) AS given (record_id, field, contact_id, former)
   WHERE own.organization_id = $1 AND own.record_id = given.record_id AND own.field = given.field
     AND own.contact_id = given.former`;
const DELETE = 'DELETE FROM object_records WHERE organization_id = $1 AND id = ANY($2::uuid[])';

interface RecordRow {
  readonly id: string;
  readonly definition_id: string;
  readonly values: FieldValues;
  readonly live: boolean;
}

interface Reference {
  readonly definition_id: string;
  readonly record_id: string;
  readonly field: string;
  readonly contact_id: string;
  readonly origin: string;
}

/** What a round of records becomes: other values, or nothing. */
type Becomes = (record: RecordRow, definition: KnownDefinition) => FieldValues | undefined;

/**
 * Records as rows that belong to the contacts that they refer to (crm.md §1, §5). The contacts are kept by whoever calls
 * it; then come the definitions, then the records, as for those who write records. A move changes no unique value and no
 * count, so it goes beside those who write other records. A removal reaches records that nobody has named, their unique
 * values and counts, in rounds: it has the definitions for itself.
 *
 * Which records refer to the contacts is read before the records are locked: whoever had one meanwhile may have had it
 * refer to somebody else, so its values decide.
 */
export function recordsOfContacts(definitions: KnownDefinitions, outbox: Outbox): ContactRows {
  return {
    origins: async (tx, contactIds) => {
      const rows = await tx.query<{ origin: string }>(ORIGINS, [tx.organizationId, contactIds]);
      return rows.map(({ origin }) => origin);
    },
    move: async (tx, contactIds, moves) => {
      const to = new Map(moves.map((move) => [move.origin, move.to]));
      const references = await tx.query<Reference>(REFERENCES, [tx.organizationId, contactIds]);
      const moved = references
        .map((reference) => ({ ...reference, to: to.get(reference.origin) ?? reference.contact_id }))
        .filter((reference) => reference.to !== reference.contact_id);
      if (moved.length === 0) return;
      const byRecord = Map.groupBy(moved, ({ record_id: id }) => id);
      const round = {
        ids: [...byRecord.keys()],
        known: await definitions.keepAll(tx, definitionsOf(moved)),
        references: false,
      };
      await inRounds(tx, round, ({ id, values }) => ({
        ...values,
        ...Object.fromEntries(
          (byRecord.get(id) ?? [])
            .filter((each) => values[each.field] === each.contact_id)
            .map((each) => [each.field, each.to]),
        ),
      }));
      await tx.query(MOVE, [
        tx.organizationId,
        moved.map(({ record_id: id }) => id),
        moved.map(({ field }) => field),
        moved.map((each) => each.to),
        moved.map((each) => each.contact_id),
      ]);
    },
    remove: async (tx, contactIds) => {
      const references = await tx.query<Reference>(REFERENCES, [tx.organizationId, contactIds]);
      const byRecord = Map.groupBy(references, ({ record_id: id }) => id);
      if (byRecord.size === 0) return;
      const known = await definitions.holdAll(tx, definitionsOf(references));
      const goneContacts = new Set<unknown>(contactIds);
      const fieldsOf = ({ id, values }: RecordRow): string[] =>
        (byRecord.get(id) ?? []).map(({ field }) => field).filter((key) => goneContacts.has(values[key]));
      const isCleared = ({ fields }: KnownDefinition, key: string): boolean =>
        fields.some(
          (field) => field.key === key && field.type === 'reference' && field.on_erasure === 'clear',
        );
      const going: string[] = [];
      await inRounds(tx, { ids: [...byRecord.keys()], known, outbox }, (record, definition) => {
        const theirs = fieldsOf(record);
        if (!theirs.every((key) => isCleared(definition, key))) going.push(record.id);
        return without(record.values, theirs);
      });
      await removeRecords(tx, { ids: going, known, outbox });
    },
  };
}

/** Records that refer to those that go lose that value, required or not. */
async function removeRecords(tx: Transaction, going: Round): Promise<void> {
  if (going.ids.length === 0) return;
  const referring = await tx.query<{ record_id: string; field: string }>(TARGETING, [
    tx.organizationId,
    going.ids,
  ]);
  const byRecord = Map.groupBy(referring, ({ record_id: id }) => id);
  const gone = new Set<unknown>(going.ids);
  await inRounds(tx, { ...going, ids: [...byRecord.keys()] }, ({ id, values }) =>
    without(
      values,
      (byRecord.get(id) ?? []).map(({ field }) => field).filter((key) => gone.has(values[key])),
    ),
  );
  await inRounds(tx, going, () => undefined);
}

/** Records that one thing is done to. */
interface Round {
  readonly ids: readonly string[];
  readonly known: ReadonlyMap<string, KnownDefinition>;
  /** Whether their references follow from their values. */
  readonly references?: boolean;
  /** Where it is told of. */
  readonly outbox?: Outbox;
}

async function inRounds(
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
    await writeSideRows(tx, changes, { references, claimsHeld: true });
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

function definitionsOf(references: readonly Reference[]): string[] {
  return references.map((each) => each.definition_id);
}

function without(values: FieldValues, keys: readonly string[]): FieldValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));
}
