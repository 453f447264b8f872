import type { TestDatabase } from '@customer-platform/testing';

/** The fields of what is measured; the first ten are indexed in one of the two definitions. */
export const FIELDS = [
  { key: 'plate', type: 'string', max_length: 12 },
  { key: 'brand', type: 'enum', options: ['a', 'b', 'c', 'd'].map((value) => ({ value })) },
  { key: 'model', type: 'string', max_length: 40 },
  { key: 'year', type: 'integer' },
  { key: 'price', type: 'number' },
  { key: 'sold', type: 'boolean' },
  { key: 'bought', type: 'date' },
  { key: 'seen_at', type: 'datetime' },
  { key: 'colour', type: 'string', max_length: 20 },
  { key: 'owner', type: 'reference', target: 'contact' },
  { key: 'remark', type: 'string', max_length: 200 },
] as const;
export const INDEXED = 10;

/** How the nth record looks; `n` is the place of a series in SQL. */
const VALUES = `jsonb_build_object(
  'plate', 'P' || lpad(n::text, 9, '0'), 'brand', (ARRAY['a', 'b', 'c', 'd'])[1 + n % 4],
  'model', 'model ' || n % 1000, 'year', 1950 + n % 75, 'price', (n * 7919 % 1000003)::float8 / 10,
  'sold', n % 10 = 0, 'bought', to_char(date '2000-01-01' + (n % 9000)::int, 'YYYY-MM-DD'),
  'seen_at', to_char(timestamp '2026-01-01' + n * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS.000"Z"'),
  'colour', (ARRAY['red', 'blue', 'green'])[1 + n % 3], 'remark', repeat('x', 100))`;

/** Ids of one millisecond after the other, so that they sort as the times of creation do. */
const RECORDS = `
  INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
  SELECT $1, (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || substr(md5(n::text), 1, 3) || '-8' ||
              substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 7, 12))::uuid,
         $2, ${VALUES}, at, at
    FROM (SELECT n, to_timestamp((1700000000000 + n)::float8 / 1000)::timestamptz(3) AS at,
                 lpad(to_hex(1700000000000 + n), 12, '0') AS hex
            FROM generate_series($3::bigint, $4::bigint) AS n) AS made`;

const KINDS: Readonly<Record<string, readonly [table: string, value: string]>> = {
  string: ['object_texts', `coalesce('=' || ("values"->>$4), '~')`],
  enum: ['object_texts', `coalesce('=' || ("values"->>$4), '~')`],
  integer: ['object_numbers', `coalesce(("values"->>$4)::float8, 'NaN')`],
  number: ['object_numbers', `coalesce(("values"->>$4)::float8, 'NaN')`],
  boolean: ['object_numbers', `coalesce(("values"->>$4)::boolean::int::float8, 'NaN')`],
  date: ['object_times', `coalesce((("values"->>$4) || 'T00:00:00Z')::timestamptz, 'infinity')`],
  datetime: ['object_times', `coalesce(("values"->>$4)::timestamptz, 'infinity')`],
  reference: ['object_ids', `coalesce(("values"->>$4)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`],
};

const AT_ONCE = 100_000;

/** Fills a definition with records and the rows of its indexes. */
export async function seedRecords(
  database: TestDatabase,
  organizationId: string,
  definitionId: string,
  records: number,
): Promise<void> {
  for (let from = 1; from <= records; from += AT_ONCE) {
    const to = Math.min(records, from + AT_ONCE - 1);
    await database.query(RECORDS, [organizationId, definitionId, from, to]);
  }
  for (const [at, { key, type }] of FIELDS.slice(0, INDEXED).entries()) {
    const [table, value] = KINDS[type] ?? [];
    await database.query(
      `INSERT INTO ${table} (organization_id, definition_id, number, value, record_id, live)
       SELECT $1, $2, $3, ${value}, id, true FROM object_records WHERE organization_id = $1 AND definition_id = $2
        ORDER BY 4, 5`,
      [organizationId, definitionId, at + 1, key],
    );
  }
  const held = JSON.stringify(
    Object.fromEntries(FIELDS.filter(({ key }) => key !== 'owner').map(({ key }) => [key, records])),
  );
  await database.query(
    `INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
     VALUES ($1, $2, 0, $3, $3, $4, $4)`,
    [organizationId, definitionId, records, held],
  );
  await database.query(
    'ANALYZE object_records, object_texts, object_numbers, object_times, object_ids, object_tallies',
  );
}
