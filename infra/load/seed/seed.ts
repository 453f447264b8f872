import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { blocksOf, sharesOf, type Block, type SeedSize } from './plan.ts';
import { COLUMNS, SeedRows, type SeededTable } from './rows.ts';

/** Where to and how much. */
interface SeedOptions extends SeedSize {
  /** The database of core, as a role that row level security does not bind. */
  databaseUrl: string;
  /** The organization that gets half of everything. */
  organizationId: string;
  /** Told after each block. */
  progress: (done: number) => void;
  /** The instant before which everything lies; default the first of this month (UTC), so that a run goes on. */
  end?: Date;
}

/** Rows of which one piece of a stream is made. */
const ROWS_AT_ONCE = 500;

function firstOfMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}

/** @returns how many rows there are to write, contacts and events */
export function rowsToSeed({ contacts, events }: SeedSize): number {
  return contacts + events;
}

/**
 * Fills core's tables by COPY: contacts with their identities, events with the counters of usage. Each block of them
 * is one transaction, and one that is there already is passed over: a run that was interrupted goes on where it was.
 * @returns how many rows were written by this run
 */
export async function seed(options: SeedOptions): Promise<number> {
  const client = new pg.Client({ connectionString: options.databaseUrl });
  await client.connect();
  try {
    // What is lost in a crash is written again by the next run.
    await client.query('SET synchronous_commit = off');
    // The first rows come into a table whose statistics say that it is empty: each foreign key would scan it.
    await client.query('SET enable_seqscan = off');
    const end = (options.end ?? firstOfMonth()).getTime();
    let [done, written] = [0, 0];
    for (const block of blocksOf(sharesOf(options, options.organizationId))) {
      const rows = new SeedRows(block.share, end);
      if (!(await isThere(client, block, rows))) {
        await write(client, block, rows);
        written += block.to - block.from;
      }
      options.progress((done += block.to - block.from));
    }
    if (written > 0) await client.query('VACUUM contacts, identities, contact_activity, events');
    return written;
  } finally {
    // Lists of a table whose statistics are of when it was empty are planned badly, after a failure too.
    await client.query('ANALYZE contacts, identities, contact_activity, events');
    await client.end();
  }
}

async function isThere(client: pg.Client, { share, kind, from }: Block, rows: SeedRows): Promise<boolean> {
  const id = kind === 'contacts' ? rows.contactId(from) : rows.eventId(from);
  const sql = `SELECT FROM ${kind} WHERE organization_id = $1 AND id = $2`;
  return (await client.query(sql, [share.organizationId, id])).rowCount === 1;
}

async function write(client: pg.Client, block: Block, rows: SeedRows): Promise<void> {
  await client.query('BEGIN');
  try {
    if (block.kind === 'contacts') {
      for (const table of ['contacts', 'identities', 'contact_activity'] as const)
        await copy(client, table, block, (number) => rows.contact(number)[table]);
    } else {
      await copy(client, 'events', block, (number) => rows.event(number));
    }
    await count(client, block);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    if ((error as { constraint?: string }).constraint !== 'identities_owner') throw error;
    throw new Error(
      'Contacts that this would make are there already, made by events: seed before other loads, after "npm start -- --reset".',
      { cause: error },
    );
  }
}

async function copy(
  client: pg.Client,
  table: SeededTable,
  { from, to }: Block,
  line: (number: number) => string,
): Promise<void> {
  function* pieces(): Generator<string> {
    for (let at = from; at < to; at += ROWS_AT_ONCE) {
      let text = '';
      for (let number = at; number < Math.min(to, at + ROWS_AT_ONCE); number += 1) text += line(number);
      yield text;
    }
  }
  const into = client.query(copyFrom(`COPY ${table} (${COLUMNS[table]}) FROM STDIN`));
  await pipeline(Readable.from(pieces()), into);
}

/** Usage shows what was seeded as accepted and stored on the day of the seed: its law of conservation goes on holding. */
async function count(client: pg.Client, { share, kind, from, to }: Block): Promise<void> {
  const [events, contacts] = kind === 'events' ? [to - from, 0] : [0, to - from];
  await client.query(
    `INSERT INTO usage_acceptances (organization_id, day, partition, counted) VALUES ($1, current_date, 0, $2)
     ON CONFLICT (organization_id, day, partition) DO UPDATE SET counted = usage_acceptances.counted + excluded.counted`,
    [share.organizationId, events],
  );
  await client.query(
    `INSERT INTO usage_days (organization_id, day, partition, consumed, stored, contacts_created)
     VALUES ($1, current_date, 0, $2, $2, $3)
     ON CONFLICT (organization_id, day, partition) DO UPDATE SET consumed = usage_days.consumed + excluded.consumed,
       stored = usage_days.stored + excluded.stored,
       contacts_created = usage_days.contacts_created + excluded.contacts_created`,
    [share.organizationId, events, contacts],
  );
}
