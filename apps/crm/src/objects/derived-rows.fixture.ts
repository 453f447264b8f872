import type { TestCrm } from '../crm.fixture.js';
import type { Model, ModelField, Value } from './object-model.fixture.js';

type StoredField = Omit<ModelField, 'bound'> & {
  readonly max?: number;
  readonly max_length?: number;
  readonly options?: readonly unknown[];
};

/** What the tables hold of the one definition of an organization. */
export interface Beside {
  readonly fields: readonly StoredField[];
  readonly indexes: readonly { key: string; number: number; state: string; claim: number | null }[];
  readonly records: readonly { id: string; values: Record<string, Value>; live: boolean }[];
  readonly rows: readonly { number: number; value: string; id: string; live: boolean }[];
  readonly claims: readonly { number: number; value: string; id: string }[];
  readonly tally: {
    records: number;
    active: number;
    held: [string, number][];
    activeHeld: [string, number][];
  };
}

const ROWS = ['texts', 'numbers', 'times', 'ids']
  .map(
    (kind) =>
      `SELECT definition_id, number, value::text, record_id AS id, live FROM object_${kind} WHERE organization_id = $1`,
  )
  .join(' UNION ALL ');
const SUM = (column: string): string => `
  SELECT key, sum(value::int)::int AS count FROM object_tallies, jsonb_each_text(${column})
   WHERE organization_id = $1 GROUP BY key HAVING sum(value::int) <> 0 ORDER BY key`;

/** Reads them all. */
export async function besideRecords(crm: TestCrm, organizationId: string): Promise<Beside> {
  const read = <Row>(sql: string): Promise<Row[]> => crm.database.query<Row>(sql, [organizationId]);
  const [definition] = await read<Pick<Beside, 'fields' | 'indexes'>>(
    'SELECT fields, indexes FROM object_definitions WHERE organization_id = $1',
  );
  const [counts] = await read<{ records: number; active: number }>(
    `SELECT coalesce(sum(records), 0)::int AS records, coalesce(sum(active), 0)::int AS active
       FROM object_tallies WHERE organization_id = $1`,
  );
  const pairs = async (column: string): Promise<[string, number][]> =>
    (await read<{ key: string; count: number }>(SUM(column))).map(({ key, count }) => [key, count]);
  return {
    fields: definition?.fields ?? [],
    indexes: definition?.indexes ?? [],
    records: await read(
      `SELECT id, "values", deleted_at IS NULL AS live FROM object_records WHERE organization_id = $1 ORDER BY id`,
    ),
    rows: await read(`SELECT number, value, id, live FROM (${ROWS}) AS rows ORDER BY number, id`),
    claims: await read(
      'SELECT number, value, record_id AS id FROM object_claims WHERE organization_id = $1 ORDER BY number, record_id',
    ),
    tally: {
      records: counts?.records ?? 0,
      active: counts?.active ?? 0,
      held: await pairs('held'),
      activeHeld: await pairs('active_held'),
    },
  };
}

/**
 * What should stand in the tables for a model, and, without one, what does. Rows of numbers that nothing goes by are on
 * their way out, and are left aside.
 */
export function followsFrom(beside: Beside): (model: Model | undefined) => object {
  const used = new Set(beside.indexes.map(({ number }) => number));
  const claimed = new Set(beside.indexes.map(({ claim }) => claim));
  return (model) => {
    if (!model)
      return {
        fields: beside.fields.map((field) =>
          flagsOf(field, field.max ?? field.max_length ?? field.options?.length),
        ),
        records: beside.records.map(({ id, values, live }) => [id, sorted(values), live]),
        rows: beside.rows
          .filter(({ number }) => used.has(number))
          .map(({ number, value, id, live }) => [number, value, id, live]),
        claims: beside.claims
          .filter(({ number }) => claimed.has(number))
          .map(({ number, value, id }) => [number, value, id]),
        tally: beside.tally,
      };
    const records = [...model.records].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = byNumber(beside.indexes, ({ number }) => number).flatMap(({ key, number }) =>
      records.map(([id, { values, live }]) => [number, written(model, key, values[key]), id, live]),
    );
    const claims = byNumber(
      beside.indexes.filter(({ claim }) => claim !== null),
      ({ claim }) => claim ?? 0,
    ).flatMap(({ key, claim }) =>
      records
        .filter(([, { values, live }]) => live && key in values)
        .map(([id, { values }]) => [claim, written(model, key, values[key]), id]),
    );
    const holding = (which: typeof records): [string, number][] => {
      const keys = [...new Set(which.flatMap(([, { values }]) => Object.keys(values)))].sort();
      return keys.map((key) => [key, which.filter(([, { values }]) => key in values).length]);
    };
    const live = records.filter(([, record]) => record.live);
    return {
      fields: model.fields.map((field) => flagsOf(field, field.bound)),
      records: records.map(([id, record]) => [id, sorted(record.values), record.live]),
      rows,
      claims,
      tally: {
        records: records.length,
        active: live.length,
        held: holding(records),
        activeHeld: holding(live),
      },
    };
  };
}

function flagsOf(field: Omit<ModelField, 'bound'>, bound: number | undefined): unknown[] {
  const { key, type, required, unique, indexed, archived } = field;
  return [key, type, required, unique, indexed, archived, type === 'boolean' ? null : bound];
}

function written(model: Model, key: string, value: Value | undefined): string {
  const isNumber = ['integer', 'boolean'].includes(
    model.fields.find((field) => field.key === key)?.type ?? '',
  );
  if (value === undefined) return isNumber ? 'NaN' : '~';
  return isNumber ? String(Number(value)) : `=${String(value)}`;
}

function sorted(values: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
}

function byNumber<T>(items: readonly T[], number: (item: T) => number): T[] {
  return [...items].sort((a, b) => number(a) - number(b));
}
