import { randomInt } from 'node:crypto';
import type { Transaction } from '@customer-platform/database';
import type { FieldValues } from '../../fields/field.js';

/** Rows per definition: so many write records of it at once, mostly without waiting for each other's commits. */
const SHARDS = 8;

/** What a definition's records are, counted. */
export interface Tally {
  /** In any state. */
  readonly records: number;
  readonly active: number;
  /** By the key of the field: records, and active records, that hold a value. */
  readonly held: Readonly<Record<string, number>>;
  readonly activeHeld: Readonly<Record<string, number>>;
}

/** A record as it is counted. */
interface Counted {
  readonly values: FieldValues;
  readonly live: boolean;
}

const SUM = (column: string): string => `(
    SELECT coalesce(jsonb_object_agg(key, total), '{}') FROM (
      SELECT key, sum(value::bigint) AS total FROM (
        SELECT * FROM jsonb_each_text(tally.${column}) UNION ALL SELECT * FROM jsonb_each_text(excluded.${column})
      ) AS parts GROUP BY key) AS totals WHERE total <> 0)`;

/** In the order of definitions, for all who write several. */
const ADD = `
  INSERT INTO object_tallies AS tally (organization_id, definition_id, shard, records, active, held, active_held)
  SELECT $1, id, $3, records, active, held, active_held
    FROM unnest($2::uuid[], $4::bigint[], $5::bigint[], $6::jsonb[], $7::jsonb[])
           AS given (id, records, active, held, active_held)
   ORDER BY id
  ON CONFLICT (organization_id, definition_id, shard) DO UPDATE
     SET records = tally.records + excluded.records, active = tally.active + excluded.active,
         held = ${SUM('held')}, active_held = ${SUM('active_held')}`;

const READ = `
  SELECT definition_id AS id, records, active, held, active_held AS "activeHeld" FROM object_tallies
   WHERE organization_id = $1 AND definition_id = ANY($2::uuid[])`;

const FORGET = 'DELETE FROM object_tallies WHERE organization_id = $1 AND definition_id = $2';

interface Row {
  id: string;
  records: string;
  active: string;
  held: Record<string, number>;
  activeHeld: Record<string, number>;
}

class Difference {
  records = 0;
  active = 0;
  readonly held = new Map<string, number>();
  readonly activeHeld = new Map<string, number>();

  add({ values, live }: Counted, by: 1 | -1): void {
    this.records += by;
    if (live) this.active += by;
    for (const key of Object.keys(values)) {
      this.held.set(key, (this.held.get(key) ?? 0) + by);
      if (live) this.activeHeld.set(key, (this.activeHeld.get(key) ?? 0) + by);
    }
  }

  get isNothing(): boolean {
    const counts = [...this.held.values(), ...this.activeHeld.values()];
    return this.records === 0 && this.active === 0 && counts.every((count) => count === 0);
  }
}

/** What one transaction changes of the counts; written at its end, so that others wait for its row but shortly. */
export class TallyChanges {
  private readonly differences = new Map<string, Difference>();

  count(definitionId: string, before: Counted | undefined, after: Counted | undefined): void {
    const difference = this.differences.get(definitionId) ?? new Difference();
    if (before) difference.add(before, -1);
    if (after) difference.add(after, 1);
    this.differences.set(definitionId, difference);
  }

  async write(tx: Transaction): Promise<void> {
    const changed = [...this.differences].filter(([, difference]) => !difference.isNothing);
    if (changed.length === 0) return;
    const of = <T>(read: (difference: Difference) => T): T[] => changed.map(([, each]) => read(each));
    await tx.prepared(ADD, [
      ...[tx.organizationId, changed.map(([id]) => id), randomInt(SHARDS)],
      ...[of(({ records }) => records), of(({ active }) => active)],
      ...[of(({ held }) => toJson(held)), of(({ activeHeld }) => toJson(activeHeld))],
    ]);
  }
}

/** The counts of definitions, exact for whoever holds them. Every id has an answer. */
export async function readTallies(tx: Transaction, ids: readonly string[]): Promise<Map<string, Tally>> {
  const rows = await tx.query<Row>(READ, [tx.organizationId, ids]);
  const byId = Map.groupBy(rows, ({ id }) => id);
  return new Map(ids.map((id) => [id, summed(byId.get(id) ?? [])]));
}

/** Of one definition. */
export async function readTally(tx: Transaction, id: string): Promise<Tally> {
  return (await readTallies(tx, [id])).get(id) ?? summed([]);
}

/** The definition is gone. */
export async function forgetTally(tx: Transaction, id: string): Promise<void> {
  await tx.query(FORGET, [tx.organizationId, id]);
}

function summed(rows: readonly Row[]): Tally {
  const total = (numbers: readonly (string | number)[]): number =>
    numbers.reduce<number>((sum, number) => sum + Number(number), 0);
  const byKey = (parts: readonly Record<string, number>[]): Record<string, number> => {
    const sums = new Map<string, number>();
    for (const [key, count] of parts.flatMap((part) => Object.entries(part)))
      sums.set(key, (sums.get(key) ?? 0) + count);
    return Object.fromEntries(sums);
  };
  return {
    records: total(rows.map(({ records }) => records)),
    active: total(rows.map(({ active }) => active)),
    held: byKey(rows.map(({ held }) => held)),
    activeHeld: byKey(rows.map(({ activeHeld }) => activeHeld)),
  };
}

function toJson(counts: ReadonlyMap<string, number>): string {
  return JSON.stringify(Object.fromEntries([...counts].filter(([, count]) => count !== 0)));
}
