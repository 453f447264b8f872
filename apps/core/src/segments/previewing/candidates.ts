import type { Transaction } from '@customer-platform/database';
import type { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { coverOf } from '../../vocabulary/rules/cover.js';
import type { EventNode, RuleNode } from '../../vocabulary/rules/rule.js';
import type { TimeLimit } from '../../previews/time-limit.js';

/** As many contacts are all looked at; of more a sample of so many. */
export const MOST_EXACT = 10_000;
/** Events whose contacts are all that can match. */
const MOST_EVENTS = 20_000;
const BY_EVENTS_MS = 400;

const BY_EVENTS = `
  SELECT count(*)::int AS events, array_agg(DISTINCT contact_id) AS ids
    FROM (SELECT event.contact_id
            FROM unnest($2::text[], $3::timestamptz[]) AS asked (event, since)
           CROSS JOIN LATERAL (
             SELECT contact_id FROM events
              WHERE organization_id = $1 AND event = asked.event AND occurred_at > asked.since AND occurred_at <= $4
              LIMIT $5) AS event
           LIMIT $5) AS found`;

const FIRST = 'SELECT id FROM contacts WHERE organization_id = $1 LIMIT $2';
const COUNT = 'SELECT count(*)::int AS total FROM contacts WHERE organization_id = $1';

/** From one index alone. */
const SAMPLE = `
  SELECT id FROM contacts
   WHERE organization_id = $1 AND (uuid_hash_extended(id, $2::bigint) & 16777215) < $3::int LIMIT $4`;
const HASHES = 16_777_216;

/** So many blocks of the table, wherever they are, whoever's contacts are in them. */
const BLOCKS = 1_500;
const BY_BLOCKS_MS = 400;
/** Fewer than these are no sample: the organization's share of the table is too small. */
const ENOUGH = 4_000;
const PAGES = `SELECT relpages::int AS pages FROM pg_class WHERE oid = 'contacts'::regclass`;
const BY_BLOCKS =
  'SELECT id FROM contacts TABLESAMPLE SYSTEM ($2::real) REPEATABLE ($3) WHERE organization_id = $1';

/** The contacts by which a rule is judged. */
interface Candidates {
  readonly ids: readonly string[];
  /** How many contacts they stand for: as many as they are where nobody else can match. */
  readonly total: number;
}

/**
 * All that can match a rule where these are few, else a sample of all; undefined where there was not time enough to find
 * any. Contacts that are in no segment may be among them.
 */
export async function candidatesOf(
  tx: Transaction,
  node: RuleNode,
  now: Date,
  { lookup, limit, random }: { lookup: ContactLookup; limit: TimeLimit; random: () => number },
): Promise<Candidates | undefined> {
  const cover = coverOf(node);
  if (cover) {
    const found = await limit.attempt(tx, (timed) => byEvents(timed, lookup, cover, now), BY_EVENTS_MS);
    if (found) return found;
  }
  const first = await limit.attempt(tx, (timed) =>
    timed.query<{ id: string }>(FIRST, [timed.organizationId, MOST_EXACT + 1]),
  );
  if (!first) return undefined;
  if (first.length <= MOST_EXACT) return { ids: first.map(({ id }) => id), total: first.length };
  return (
    (await limit.attempt(tx, (timed) => byBlocks(timed, random), BY_BLOCKS_MS)) ??
    (await limit.attempt(tx, (timed) => byIds(timed, random)))
  );
}

/** A sample that costs the same however many there are; undefined where it holds too few of the organization's. */
async function byBlocks(tx: Transaction, random: () => number): Promise<Candidates | undefined> {
  const [table] = await tx.query<{ pages: number }>(PAGES);
  if (!table || table.pages <= BLOCKS) return undefined;
  const percent = (100 * BLOCKS) / table.pages;
  const sample = await tx.query<{ id: string }>(BY_BLOCKS, [tx.organizationId, percent, random()]);
  if (sample.length < ENOUGH) return undefined;
  return { ids: sample.map(({ id }) => id), total: Math.round((100 * sample.length) / percent) };
}

/** A sample picked by what ids are made of, each time another. */
async function byIds(tx: Transaction, random: () => number): Promise<Candidates> {
  const { organizationId } = tx;
  const [row] = await tx.query<{ total: number }>(COUNT, [organizationId]);
  const total = row?.total ?? 0;
  const part = Math.min(HASHES, Math.ceil((MOST_EXACT / Math.max(total, 1)) * HASHES));
  const seed = Math.floor(random() * HASHES);
  const sample = await tx.query<{ id: string }>(SAMPLE, [organizationId, seed, part, 2 * MOST_EXACT]);
  return { ids: sample.map(({ id }) => id), total };
}

/** Undefined where there are too many events of these names. */
async function byEvents(
  tx: Transaction,
  lookup: ContactLookup,
  cover: readonly EventNode[],
  now: Date,
): Promise<Candidates | undefined> {
  const since = Map.groupBy(cover, ({ event }) => event);
  const windows = [...since.values()].map((nodes) => Math.max(...nodes.map(({ withinMs }) => withinMs)));
  const [row] = await tx.query<{ events: number; ids: string[] | null }>(BY_EVENTS, [
    tx.organizationId,
    [...since.keys()],
    windows.map((ms) => (ms === Infinity ? '-infinity' : new Date(now.getTime() - ms))),
    now,
    MOST_EVENTS + 1,
  ]);
  if (!row || row.events > MOST_EVENTS) return undefined;
  const given = row.ids ?? [];
  const survivors = await lookup.survivorsOf(tx, given);
  const ids = [...new Set(given.map((id) => survivors.get(id) ?? id))];
  return { ids, total: ids.length };
}
