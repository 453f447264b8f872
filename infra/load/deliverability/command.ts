/**
 * `npm run load -- deliverability [--duration S]`: the figures of an organization that has sent ten million messages in
 * 92 days, to a hundred domains and by a hundred campaigns a day. Prints how long they take to read: by the hour, by the
 * day, in all, with groups and without.
 */
import { processesOf } from '@customer-platform/kit/app-processes.ts';
import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import type pg from 'pg';
import { foundOrganization } from '../organizations.ts';

type Say = (line: string) => void;

const SENDS = 10_000_000;
const DAYS = 92;
/** Of a day so many domains and campaigns have a row of their own; what is left has one more. */
const NAMED = 100;
const WARM_UP = 20;

const DIMENSIONS: Readonly<Record<string, readonly string[]>> = {
  channel: ['email', 'sms', 'whatsapp', 'push', 'inbox'],
  sender_domain: ['', 'example.com', 'news.example.com'],
  recipient_domain: [...Array.from({ length: NAMED }, (_, n) => `domain-${n}.example`), '*'],
  campaign: [
    ...Array.from({ length: NAMED }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`),
    '*',
  ],
};

/** The columns of states are all that is left of the table: this follows it. */
const COLUMNS = `
  SELECT column_name AS name FROM information_schema.columns
   WHERE table_name = 'deliverability_counts'
     AND column_name NOT IN ('organization_id', 'granularity', 'dimension', 'starts_at', 'value')`;

const QUERIES: readonly string[] = [
  'granularity=hour',
  'granularity=hour&group_by=channel',
  'granularity=day',
  'granularity=day&group_by=recipient_domain',
  'granularity=day&group_by=campaign',
  'granularity=total&group_by=campaign',
];

/** Runs it and prints what came of it. */
export async function runDeliverability(platform: Platform, duration: number, say: Say): Promise<void> {
  const key = await foundOrganization(platform);
  const own: Platform = { ...platform, admin_key: key };
  const organizationId = await idOf(own);
  const client = await connected(adminUrl(platform, 'messaging'));
  try {
    const rows = await fill(client, organizationId);
    say(`deliverability: ${SENDS} sends of ${DAYS} days in ${rows} counts; one call after another`);
    for (const query of QUERIES) await measure(own, query, duration, say);
    const resident = processesOf(platform, 'messaging').reduce((sum, one) => sum + one.residentMiB, 0);
    say(`  messaging’s memory afterwards: ${resident.toFixed(0)} MiB`);
  } finally {
    await client.query('DELETE FROM deliverability_counts WHERE organization_id = $1', [organizationId]);
    await client.end();
  }
}

async function fill(client: pg.Client, organizationId: string): Promise<number> {
  const { rows: columns } = await client.query<{ name: string }>(COLUMNS);
  const names = columns.map(({ name }) => name).join(', ');
  let count = 0;
  for (const [granularity, periods] of [
    ['hour', DAYS * 24],
    ['day', DAYS],
  ] as const)
    for (const [dimension, values] of Object.entries(DIMENSIONS)) {
      const each = Math.round(SENDS / periods / values.length);
      const { rowCount } = await client.query(
        `INSERT INTO deliverability_counts (organization_id, granularity, dimension, starts_at, value, ${names})
         SELECT $1, $2::text, $3, date_trunc('day', now(), 'UTC') + interval '1 day' - n * ('1 ' || $2::text)::interval,
                value, ${columns.map(() => '$6::bigint').join(', ')}
           FROM generate_series(1, $4::int) AS n, unnest($5::text[]) AS value`,
        [organizationId, granularity, dimension, periods, values, each],
      );
      count += rowCount ?? 0;
    }
  await client.query('ANALYZE deliverability_counts');
  return count;
}

async function measure(platform: Platform, query: string, duration: number, say: Say): Promise<void> {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const range = `from=${day(Date.now() - (DAYS - 1) * 86_400_000)}&to=${day(Date.now())}`;
  const taken: number[] = [];
  let size = 0;
  for (
    const end = performance.now() + duration * 1_000;
    performance.now() < end || taken.length <= WARM_UP;
  ) {
    const began = performance.now();
    size = await sizeOf(platform, `/v1/messaging/deliverability?${range}&${query}`);
    taken.push(performance.now() - began);
  }
  const timed = taken.slice(WARM_UP);
  const at = (share: number): string => percentile(timed, share).toFixed(0);
  say(
    `  ${query}: p50 ${at(0.5)}, p95 ${at(0.95)} ms (${timed.length} calls, ${(size / 1_024).toFixed(0)} KiB)`,
  );
}

/** How large the answer is. */
async function sizeOf({ base_url: base, admin_key: key }: Platform, path: string): Promise<number> {
  const answer = await fetch(base + path, { headers: { authorization: `Bearer ${key}` } });
  const { byteLength } = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}`);
  return byteLength;
}

async function idOf({ base_url: base, admin_key: key }: Platform): Promise<string> {
  const answer = await fetch(`${base}/v1/identity/organizations?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  const [organization] = data;
  if (!organization) throw new Error('The key shows no organization.');
  return organization.id;
}
