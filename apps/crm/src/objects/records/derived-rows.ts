import type { Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { CONTACT, type Field, type FieldValues } from '../../fields/field.js';
import type { FieldIndex, KnownDefinition } from '../definitions/known-definition.js';
import { TallyChanges } from '../definitions/tallies.js';
import { INDEX_TABLES, INDEX_TYPES, indexed, kindOf, type IndexKind } from './index-values.js';

/** A record as what stands beside it follows from it. */
export interface RecordState {
  readonly id: string;
  readonly values: FieldValues;
  readonly live: boolean;
}

/** One record before and after; without the one it is new, without the other it is gone. */
export interface RecordChange {
  readonly definition: KnownDefinition;
  readonly before?: RecordState;
  readonly after?: RecordState;
}

interface SideRow {
  readonly kind: IndexKind | 'claim';
  readonly definitionId: string;
  readonly number: number;
  readonly value: string;
  readonly recordId: string;
  readonly live: boolean;
}

interface ReferenceRow {
  readonly definitionId: string;
  readonly field: string;
  readonly recordId: string;
  readonly contactId: string | null;
  readonly targetId: string | null;
}

const KINDS: readonly SideRow['kind'][] = [...(Object.keys(INDEX_TABLES) as IndexKind[]), 'claim'];
const GIVEN = `given AS MATERIALIZED (
    SELECT $1::uuid AS organization_id, row.*
      FROM unnest($2::text[], $3::uuid[], $4::integer[], $5::text[], $6::uuid[], $7::boolean[])
        AS row (kind, definition_id, number, value, record_id, live))`;

const filled = (kind: IndexKind): string => `${kind}_rows AS (
    INSERT INTO ${INDEX_TABLES[kind]} (organization_id, definition_id, number, value, record_id, live)
    SELECT organization_id, definition_id, number, value::${INDEX_TYPES[kind]}, record_id, live FROM given
     WHERE kind = '${kind}'
    ON CONFLICT DO NOTHING)`;

const CLAIMED_NOW = `claim_rows AS (
    INSERT INTO object_claims (organization_id, definition_id, number, value, record_id)
    SELECT organization_id, definition_id, number, value, record_id FROM given WHERE kind = 'claim'
     ORDER BY definition_id, number, value
    ON CONFLICT DO NOTHING RETURNING 1)`;

const emptied = (kind: IndexKind): string => `${kind}_rows AS (
    DELETE FROM ${INDEX_TABLES[kind]} AS own USING (
      SELECT definition_id, number, value::${INDEX_TYPES[kind]} AS value, record_id FROM given
       WHERE kind = '${kind}' OFFSET 0) AS gone
     WHERE own.organization_id = $1 AND own.definition_id = gone.definition_id AND own.number = gone.number
       AND own.value = gone.value AND own.record_id = gone.record_id)`;

const GIVEN_UP = `claim_rows AS (
    DELETE FROM object_claims AS own USING (SELECT * FROM given WHERE kind = 'claim' OFFSET 0) AS gone
     WHERE own.organization_id = $1 AND own.definition_id = gone.definition_id AND own.number = gone.number
       AND own.value = gone.value AND own.record_id = gone.record_id RETURNING 1)`;

type Parts = Readonly<Record<SideRow['kind'], string>>;

const partsOf = (part: (kind: IndexKind) => string, claim: string): Parts => ({
  ...{ text: part('text'), number: part('number'), time: part('time'), id: part('id') },
  claim,
});
/** What stands there already was filled in by whoever builds the index. Claims in one order, for all who make several. */
const INSERT = partsOf(filled, CLAIMED_NOW);
const DELETE = partsOf(emptied, GIVEN_UP);

/** Of the kinds that the rows have: to plan what touches all tables takes longer than to write a record's rows. */
function statementOf(parts: Parts, rows: readonly SideRow[]): string {
  const kinds = KINDS.filter((each) => rows.some(({ kind }) => kind === each));
  const claimed = kinds.includes('claim') ? '(SELECT count(*) FROM claim_rows)::int' : '0';
  return `WITH ${[GIVEN, ...kinds.map((kind) => parts[kind])].join(', ')} SELECT ${claimed} AS claimed`;
}

/** In the order of the locks themselves. */
const HOLD_CLAIMS = `
  SELECT pg_advisory_xact_lock(lock) FROM (
    SELECT DISTINCT hashtextextended('object-claim:' || $1 || ':' || key, 0) AS lock FROM unnest($2::text[]) AS key
     ORDER BY lock) AS sorted`;

const CLAIMED = `
  SELECT own.number, own.record_id FROM object_claims AS own
    JOIN unnest($2::uuid[], $3::integer[], $4::text[], $5::uuid[]) AS asked (definition_id, number, value, record_id)
      ON own.definition_id = asked.definition_id AND own.number = asked.number AND own.value = asked.value
     AND own.record_id <> asked.record_id
   WHERE own.organization_id = $1 ORDER BY own.number LIMIT 1`;

const REFER = `
  INSERT INTO object_references
    (organization_id, definition_id, field, record_id, contact_id, origin_contact_id, target_id)
  SELECT $1, definition_id, field, record_id, contact_id, contact_id, target_id
    FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[])
           AS given (definition_id, field, record_id, contact_id, target_id)
  ON CONFLICT (organization_id, record_id, field) DO UPDATE
     SET contact_id = excluded.contact_id, origin_contact_id = excluded.origin_contact_id,
         target_id = excluded.target_id`;

const UNREFER = `
  DELETE FROM object_references AS own USING unnest($2::uuid[], $3::text[]) AS gone (record_id, field)
   WHERE own.organization_id = $1 AND own.record_id = gone.record_id AND own.field = gone.field`;

/** A conflict that is gone when looked at was given up in between; a few tries outlast any real sequence of that. */
const TRIES = 3;

interface SideRowOptions {
  /** Unless the references are written by who calls. */
  readonly references?: boolean;
  /** Whether nobody else writes by the definitions. */
  readonly claimsHeld?: boolean;
}

/**
 * Writes what stands beside records after a change of theirs, in its transaction: index rows, claims of unique values,
 * references and counts. Whoever calls it keeps the definitions as they are and has locked the records.
 * @throws Problem `duplicate_value`; `restore_conflict` with `conflicting_id` for a record that comes back
 */
export async function writeDerivedRows(
  tx: Transaction,
  changes: readonly RecordChange[],
  { references = true, claimsHeld = false }: SideRowOptions = {},
): Promise<void> {
  const rows = changes.map(({ definition, before, after }) => ({
    before: before ? rowsOf(definition, before) : [],
    after: after ? rowsOf(definition, after) : [],
  }));
  const removed = rows.flatMap((each) => without(each.before, each.after, keyOf));
  const added = rows.flatMap((each) => without(each.after, each.before, keyOf));
  if (!claimsHeld) await holdClaims(tx, [...removed, ...added]);
  await remove(tx, removed);
  const restoring = changes.some(({ before, after }) => before?.live === false && after?.live === true);
  await insert(tx, added, changes, restoring);
  if (references) await writeReferences(tx, changes);
  const tallies = new TallyChanges();
  for (const { definition, before, after } of changes) tallies.count(definition.id, before, after);
  await tallies.write(tx);
}

/** Fills one index from records; rows that are there already stay. */
export async function fillIndex(
  tx: Transaction,
  definition: KnownDefinition,
  index: FieldIndex,
  records: readonly RecordState[],
): Promise<void> {
  const rows = records.flatMap((record) => rowsOf({ ...definition, indexes: [index] }, record));
  await insert(
    tx,
    rows.filter(({ kind }) => kind !== 'claim'),
    [],
    false,
  );
}

/** Who gives up one value, or has one, while it takes another would wait for who does the same the other way round. */
async function holdClaims(tx: Transaction, rows: readonly SideRow[]): Promise<void> {
  const claims = rows.filter(({ kind }) => kind === 'claim');
  if (claims.length < 2) return;
  const keys = claims.map(({ definitionId, number, value }) => `${definitionId}:${String(number)}:${value}`);
  await tx.prepared(HOLD_CLAIMS, [tx.organizationId, keys]);
}

async function writeReferences(tx: Transaction, changes: readonly RecordChange[]): Promise<void> {
  const rows = changes.map(({ definition, before, after }) => ({
    before: before ? referencesOf(definition, before) : [],
    after: after ? referencesOf(definition, after) : [],
  }));
  const place = ({ recordId, field }: ReferenceRow): string => `${recordId} ${field}`;
  const whole = (row: ReferenceRow): string => `${place(row)} ${row.contactId ?? row.targetId ?? ''}`;
  const gone = rows.flatMap((each) => without(each.before, each.after, place));
  if (gone.length > 0)
    await tx.prepared(UNREFER, [
      tx.organizationId,
      gone.map(({ recordId }) => recordId),
      gone.map(({ field }) => field),
    ]);
  const added = rows.flatMap((each) => without(each.after, each.before, whole));
  if (added.length === 0) return;
  await tx.prepared(REFER, [
    tx.organizationId,
    added.map(({ definitionId }) => definitionId),
    added.map(({ field }) => field),
    added.map(({ recordId }) => recordId),
    added.map(({ contactId }) => contactId),
    added.map(({ targetId }) => targetId),
  ]);
}

async function insert(
  tx: Transaction,
  rows: readonly SideRow[],
  changes: readonly RecordChange[],
  restoring: boolean,
): Promise<void> {
  if (rows.length === 0) return;
  const claims = rows.filter(({ kind }) => kind === 'claim');
  for await (const { isLast } of turns({ most: TRIES })) {
    const [row] = await tx.prepared<{ claimed: number }>(statementOf(INSERT, rows), parametersOf(tx, rows));
    if (row?.claimed === claims.length) return;
    const [taken] = await tx.query<{ number: number; record_id: string }>(CLAIMED, [
      ...[tx.organizationId, claims.map(({ definitionId }) => definitionId)],
      ...[claims.map(({ number }) => number), claims.map(({ value }) => value)],
      claims.map(({ recordId }) => recordId),
    ]);
    if (!taken && !isLast) {
      // What was claimed by this attempt is claimed anew beside the rest.
      await remove(tx, claims);
      continue;
    }
    throw refusal(changes, taken, restoring);
  }
}

function refusal(
  changes: readonly RecordChange[],
  taken: { number: number; record_id: string } | undefined,
  restoring: boolean,
): Problem {
  const indexes = changes.flatMap(({ definition }) => definition.indexes);
  const field = indexes.find(({ claim }) => claim === taken?.number)?.key ?? '';
  if (restoring)
    return new Problem('restore_conflict', {
      detail: `The value of ${field} has been taken since.`,
      members: taken ? { conflicting_id: taken.record_id } : {},
    });
  return new Problem('duplicate_value', {
    detail: `The value of ${field} is taken.`,
    errors: [{ pointer: `/values/${field}`, code: 'duplicate_value', detail: `This ${field} is taken.` }],
  });
}

async function remove(tx: Transaction, rows: readonly SideRow[]): Promise<void> {
  if (rows.length > 0) await tx.prepared(statementOf(DELETE, rows), parametersOf(tx, rows));
}

function parametersOf(tx: Transaction, rows: readonly SideRow[]): unknown[] {
  return [
    tx.organizationId,
    rows.map(({ kind }) => kind),
    rows.map(({ definitionId }) => definitionId),
    rows.map(({ number }) => number),
    rows.map(({ value }) => value),
    rows.map(({ recordId }) => recordId),
    rows.map(({ live }) => live),
  ];
}

function rowsOf({ id, fields, indexes }: KnownDefinition, record: RecordState): SideRow[] {
  return indexes.flatMap(({ key, number, claim }): SideRow[] => {
    const field = fields.find((each) => each.key === key);
    if (!field) return [];
    const given = record.values[key];
    const value = indexed(field, given);
    const row = { definitionId: id, value, recordId: record.id, live: record.live };
    const own: SideRow = { ...row, kind: kindOf(field), number };
    const claims = claim !== null && record.live && given !== undefined;
    return claims ? [own, { ...row, kind: 'claim', number: claim }] : [own];
  });
}

function referencesOf({ id, fields }: KnownDefinition, record: RecordState): ReferenceRow[] {
  return fields.flatMap((field: Field): ReferenceRow[] => {
    const value = record.values[field.key];
    if (field.type !== 'reference' || typeof value !== 'string') return [];
    const isContact = field.target === CONTACT;
    const target = { contactId: isContact ? value : null, targetId: isContact ? null : value };
    return [{ definitionId: id, field: field.key, recordId: record.id, ...target }];
  });
}

function keyOf({ kind, number, value, live }: SideRow): string {
  return `${kind} ${String(number)} ${String(live)} ${value}`;
}

/** Those that the others do not have; the two are of one record. */
function without<T>(rows: readonly T[], others: readonly T[], key: (row: T) => string): T[] {
  const known = new Set(others.map(key));
  return rows.filter((row) => !known.has(key(row)));
}
