/**
 * `npm run load -- large-organization [--contacts N] [--events N]` (after `npm run build`)
 *
 * Prints how long those calls of core take whose work grows with an organization: searching people, trying a rule of a
 * segment, reading usage behind a thousand days. On a PostgreSQL, a Kafka and a core of its own, filled by COPY.
 * `segments-preview` prints the rules alone.
 */
import { percentile } from '@customer-platform/kit/percentile.ts';
import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { ProgressBar } from '@customer-platform/replay/progress-bar.ts';
import type { Caller, TestDatabase } from '@customer-platform/testing';
import { startBuiltCore } from './built-core.ts';
import { rowsToSeed, seed } from './seed/seed.ts';

const USAGE_DAYS = 1_000;
const USAGE_PARTITIONS = 12;
const WARM_UP = 5;
const TIMES = 40;
/** A preview may be asked for twice at once by one tenant and takes up to two seconds: fewer of them say enough. */
const PREVIEWS = 10;

type Say = (line: string) => void;

/** What is measured. */
interface LargeOrganization {
  readonly contacts: number;
  readonly events: number;
  readonly previewsOnly: boolean;
}

interface Call {
  readonly name: string;
  readonly times: number;
  /** Sends it for the nth time and says what of its answer is worth a look. */
  readonly send: (caller: Caller, time: number) => Promise<string>;
}

/** Measures, prints, and removes what it made. */
export async function measureLargeOrganization(options: LargeOrganization, say: Say): Promise<void> {
  const { app, database, end } = await startBuiltCore();
  try {
    const organizationId = newId();
    await fill(database, organizationId, options, say);
    const rate_limits = { key_per_second: 100_000, organization_per_second: 100_000 };
    const permissions = PERMISSIONS.filter((permission) => permission.startsWith('core.'));
    const caller = app.as(organizationId, permissions, { rate_limits });
    for (const call of options.previewsOnly ? PREVIEWED : [...SEARCHES, ...PREVIEWED, ...USAGE])
      say(await figures(caller, call));
  } finally {
    await end();
  }
}

async function fill(
  database: TestDatabase,
  organizationId: string,
  { contacts, events }: LargeOrganization,
  say: Say,
): Promise<void> {
  say(
    `${contacts.toLocaleString('en')} contacts, ${events.toLocaleString('en')} events, ${USAGE_DAYS.toLocaleString('en')} days of usage`,
  );
  const size = { contacts, events, organizations: 1 };
  const bar = new ProgressBar(rowsToSeed(size));
  await seed({
    ...size,
    databaseUrl: database.adminUrl,
    organizationId,
    progress: (done) => bar.show(done),
  });
  bar.end();
  await database.query(
    `INSERT INTO usage_days (organization_id, day, partition, consumed, stored)
     SELECT $1, current_date - day, partition, 1000, 1000
       FROM generate_series(1, $2::int) AS day, generate_series(0, $3::int - 1) AS partition`,
    [organizationId, USAGE_DAYS, USAGE_PARTITIONS],
  );
  await database.query(
    `INSERT INTO usage_acceptances (organization_id, day, partition, counted)
     SELECT organization_id, day, partition, consumed FROM usage_days WHERE day < current_date`,
  );
  await database.query('ANALYZE usage_days, usage_acceptances');
}

async function figures(caller: Caller, { name, times, send }: Call): Promise<string> {
  const milliseconds: number[] = [];
  let seen = '';
  for (let time = -WARM_UP; time < times; time += 1) {
    const began = performance.now();
    seen = await send(caller, Math.abs(time));
    if (time >= 0) milliseconds.push(performance.now() - began);
  }
  const at = (share: number): string => percentile(milliseconds, share).toFixed(1).padStart(8);
  return `  ${name.padEnd(44)} p50 ${at(0.5)}  p95 ${at(0.95)}  max ${at(1)} ms   ${seen}`;
}

async function answerOf<T>(answering: Promise<{ status: number; body: unknown }>): Promise<T> {
  const { status, body } = await answering;
  if (status !== 200) throw new Error(`A call was answered ${status}: ${JSON.stringify(body)}`);
  return body as T;
}

function search(name: string, queryOf: (time: number) => string): Call {
  return {
    name,
    times: TIMES,
    send: async (caller, time) => {
      const path = `/v1/core/contacts?limit=50&${queryOf(time)}`;
      const { data } = await answerOf<{ data: unknown[] }>(caller.get(path));
      return `${data.length} shown`;
    },
  };
}

const SEARCHES: readonly Call[] = [
  search('q: a first name that every ninth has', () => 'q=camila'),
  search('q: a whole name', () => `q=${encodeURIComponent('elisa muñoz')}`),
  search('q: the beginning of an address', (time) => `q=customer-${time * 7_919}`),
  search(
    'q: a telephone number',
    (time) => `q=${encodeURIComponent(`+569${String(time * 101).padStart(8, '0')}`)}`,
  ),
  search('q: nobody', (time) => `q=nobody-${time}`),
  search('last_name[prefix]', () => `last_name[prefix]=${encodeURIComponent('Muñ')}`),
];

function preview(name: string, rule: object): Call {
  return {
    name,
    times: PREVIEWS,
    send: async (caller) => {
      const answering = caller.post('/v1/core/segments/preview', { rule });
      const { count, exact } = await answerOf<{ count: number; exact: boolean }>(answering);
      return `${exact ? '' : 'about '}${count.toLocaleString('en')}`;
    },
  };
}

const bought = (least: number): object => ({
  event: 'purchase_completed',
  where: [{ property: 'amount', op: 'gte', value: least }],
  count: { op: 'gte', value: 1 },
  within: 'P90D',
});

const PREVIEWED: readonly Call[] = [
  preview('preview: an attribute', { attribute: 'attributes.plan', op: 'eq', value: 'pro' }),
  preview('preview: an event of the last 90 days', bought(20_000)),
  preview('preview: an event that nobody sent', { event: 'account_closed' }),
  preview('preview: all three, and one not', {
    all: [
      { attribute: 'attributes.plan', op: 'eq', value: 'pro' },
      bought(50_000),
      { not: { event: 'account_closed' } },
    ],
  }),
];

function usage(name: string, query: string): Call {
  return {
    name,
    times: TIMES,
    send: async (caller) => {
      const { data } = await answerOf<{ data: unknown[] }>(caller.get(`/v1/core/usage${query}`));
      return `${data.length} periods`;
    },
  };
}

const dateBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const USAGE: readonly Call[] = [
  usage('usage: the last 30 days', ''),
  usage('usage: 400 days', `?from=${dateBefore(399)}&to=${dateBefore(0)}`),
  usage('usage: 400 days by month', `?from=${dateBefore(399)}&to=${dateBefore(0)}&granularity=month`),
  usage('usage: 30 days, 900 days ago', `?from=${dateBefore(930)}&to=${dateBefore(900)}`),
];
