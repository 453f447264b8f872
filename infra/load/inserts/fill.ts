import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Share } from '../seed/plan.ts';
import { COLUMNS, SeedRows } from '../seed/rows.ts';

const ROWS_AT_ONCE = 500;

interface Definition {
  name: string;
  /** Makes it anew, with those of all partitions. */
  definition: string;
  constrains: boolean;
}

/** Of the table itself; those of its partitions go and come with them. */
const DEFINITIONS = `
  SELECT conname AS name, pg_get_constraintdef(oid) AS definition, true AS constrains FROM pg_constraint
   WHERE conrelid = 'events'::regclass AND contype IN ('p', 'u')
  UNION ALL
  SELECT relname, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON '), false FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
   WHERE indrelid = 'events'::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`;

/** Empties the table of events and fills it, its indexes last: some times faster than row by row into them. */
export async function fillEvents(admin: pg.Client, shares: readonly Share[]): Promise<void> {
  const { rows: indexes } = await admin.query<Definition>(DEFINITIONS);
  await admin.query(`SET maintenance_work_mem = '1GB'`);
  await admin.query('BEGIN');
  for (const { name, constrains } of indexes)
    await admin.query(constrains ? `ALTER TABLE events DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`);
  // What is emptied in the same transaction needs no WAL.
  await admin.query('TRUNCATE events');
  await pipeline(
    Readable.from(lines(shares)),
    admin.query(copyFrom(`COPY events (${COLUMNS.events}) FROM STDIN`)),
  );
  for (const { name, definition, constrains } of indexes)
    await admin.query(constrains ? `ALTER TABLE events ADD CONSTRAINT ${name} ${definition}` : definition);
  await admin.query('COMMIT');
  await admin.query('VACUUM (ANALYZE) events');
}

function* lines(shares: readonly Share[]): Generator<string> {
  const end = Date.now();
  for (const share of shares) {
    const rows = new SeedRows(share, end);
    for (let from = 0; from < share.events; from += ROWS_AT_ONCE) {
      let text = '';
      for (let number = from; number < Math.min(share.events, from + ROWS_AT_ONCE); number += 1)
        text += rows.event(number);
      yield text;
    }
  }
}
