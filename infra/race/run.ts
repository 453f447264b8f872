/**
 * `npm run race -- [--addresses N] [--seconds N]`
 *
 * The promise of the dispatch gate, tried from outside: mail to many mailboxes is under way by each of the five ways a
 * send comes to the gate (the API, a routed event, a retry after a 4xx, the end of quiet hours, a campaign),
 * transactional and marketing, while each mailbox is suppressed at a random instant. After a suppression's 201 no SMTP
 * DATA for that mailbox may begin; and of a campaign that is paused or deleted in the middle none a second later.
 *
 * Runs against the platform that `npm start` runs, points the demo organization's e-mail at a sink of its own for
 * that time, and puts the settings back. Ends with exit code 1 if the promise was broken once, or a send has come to
 * no end.
 */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, get, request, runningPlatform } from '@customer-platform/kit/platform.ts';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { Sink } from '@customer-platform/kit/sink.ts';
import { RacedCampaigns } from './campaigns.ts';
import { type OpenWays, type Way, WAYS, openWays, unlessBusy, wayOf } from './ways.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    addresses: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    data: { type: 'string', default: join(root, '.data') },
  },
});
const SLOWEST_SINK_MS = 40;
/** After the last send its retry, 30 s later, is still raced. */
const RETRIED_WITHIN_MS = 36_000;
/** Held mail leaves within this after the quiet hours, most of it at once. */
const RELEASED_WITHIN_MS = 5_000;
const SETTLED_WITHIN_MS = 180_000;
const AT_ONCE = 64;

type OneByOne = Exclude<Way, 'campaign'>;
const ONE_BY_ONE = WAYS.filter((way): way is OneByOne => way !== 'campaign');

interface Tally {
  asked: Record<Way, number>;
  answers: Map<string, number>;
  /** Milliseconds at which each mailbox's suppression was answered 201. */
  suppressedAt: Map<string, number>;
  suppressionMs: number[];
}

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  const deferred = new Set<string>();
  const sink = new Sink(SLOWEST_SINK_MS, Math.random, (address) => {
    if (wayOf(address).way !== 'retry' || deferred.has(address)) return false;
    deferred.add(address);
    return true;
  });
  const port = await sink.listen();
  const run = randomUUID().slice(0, 8);
  let ways: OpenWays | undefined;
  try {
    ways = await openWays(platform, run, port);
    const mailboxes = Array.from(
      { length: Number(values.addresses) },
      (_, i) => `race-${run}-${i}@example.com`,
    );
    const template = ways.templateId;
    const campaigns = await RacedCampaigns.made(platform, { run, template, mailboxes });
    const tally = await raceAll(platform, ways, { mailboxes, campaigns });
    await campaigns.settled(SETTLED_WITHIN_MS);
    await settled(platform, ways, tally);
    report(tally, sink, { deferred, campaigns });
  } finally {
    // Also where the settings cannot be put back: a server that listens would keep this process from ending.
    try {
      await ways?.close();
    } finally {
      await sink.close();
    }
  }
}

async function raceAll(
  platform: Platform,
  ways: OpenWays,
  { mailboxes, campaigns }: { mailboxes: string[]; campaigns: RacedCampaigns },
): Promise<Tally> {
  const tally: Tally = {
    asked: { api: 0, routing: 0, retry: 0, quiet: 0, campaign: 0 },
    answers: new Map(),
    suppressedAt: new Map(),
    suppressionMs: [],
  };
  const span = Number(values.seconds) * 1000;
  const instants: Record<OneByOne, () => number> = {
    api: () => Math.random() * span,
    routing: () => Math.random() * span,
    retry: () => Math.random() * span,
    // Before they end: what comes later is not held.
    quiet: () => Math.random() * Math.min(span, ways.quietMs),
  };
  const end = Math.max(span + RETRIED_WITHIN_MS, ways.quietMs + RELEASED_WITHIN_MS);
  const suppressAt = [
    () => Math.random() * span,
    () => Math.random() * end,
    () => ways.quietMs + Math.random() * RELEASED_WITHIN_MS,
  ];
  const actions = mailboxes.flatMap((mailbox, n) => [
    ...ONE_BY_ONE.map((way) => ({ at: instants[way](), run: () => send(ways, mailbox, way, tally) })),
    { at: suppressAt[n % suppressAt.length]?.() ?? 0, run: () => suppress(platform, mailbox, tally) },
  ]);
  const runs = Array.from({ length: campaigns.count }, (_, at) => ({
    at: Math.random() * span,
    run: () => campaigns.race(at),
  }));
  await inTime([...actions, ...runs]);
  tally.asked.campaign = campaigns.asked;
  return tally;
}

async function inTime(actions: { at: number; run: () => Promise<void> }[]): Promise<void> {
  actions.sort((a, b) => a.at - b.at);
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let action = actions[next++]; action !== undefined; action = actions[next++]) {
        const early = action.at - (performance.now() - began);
        if (early > 0) await new Promise((done) => setTimeout(done, early));
        await action.run();
      }
    }),
  );
}

async function send(ways: OpenWays, mailbox: string, way: Way, tally: Tally): Promise<void> {
  const { status, code } = await ways.send(mailbox, way);
  if (status === 202) tally.asked[way] += 1;
  tally.answers.set(code, (tally.answers.get(code) ?? 0) + 1);
}

async function suppress(platform: Platform, mailbox: string, tally: Tally): Promise<void> {
  const began = performance.now();
  const body = { channel: 'email', address: mailbox, reason: 'manual' };
  // A repeat after a 503 may find that the first has done it: it is timed as a whole.
  await unlessBusy(() => request(platform, 'POST', '/v1/messaging/suppressions', body, { allow: [503] }));
  const at = performance.now();
  tally.suppressedAt.set(mailbox, at);
  tally.suppressionMs.push(at - began);
}

/** Waits until every event has become a send, and no send can still be handed off. */
async function settled(platform: Platform, { ruleId }: OpenWays, { asked }: Tally): Promise<void> {
  const open = '/v1/messaging/sends?state[in]=accepted,rendering,gated,dispatching,held&limit=1';
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (let routed = 0; ;) {
    if (routed < asked.routing) routed = await countOf(platform, `source_id=${ruleId}`);
    const page = await get<{ data: unknown[] }>(platform, open);
    if (routed === asked.routing && page.data.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`Of ${asked.routing} events ${routed} were routed; sends are open or missing.`);
    await new Promise((done) => setTimeout(done, 500));
  }
}

async function countOf(platform: Platform, filter: string): Promise<number> {
  let count = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { data: unknown[]; page: { next_cursor: string | null } } = await get(
      platform,
      `/v1/messaging/sends?${filter}&limit=200${at}`,
    );
    count += page.data.length;
    cursor = page.page.next_cursor;
  }
  return count;
}

function report(
  tally: Tally,
  sink: Sink,
  { deferred, campaigns }: { deferred: ReadonlySet<string>; campaigns: RacedCampaigns },
): void {
  const late = sink.handOffs.filter(
    ({ address, at }) => at > (tally.suppressedAt.get(wayOf(address).mailbox) ?? Infinity),
  );
  const restless = campaigns.stops.map(({ addresses, what, from, until }) => ({
    what,
    mails: sink.handOffs.filter(({ address, at }) => addresses.has(address) && at > from && at < until)
      .length,
  }));
  const stopped = (what: 'paused' | 'canceled'): string => {
    const some = restless.filter((one) => one.what === what);
    return `${String(some.length)} ${what} (${String(some.reduce((sum, { mails }) => sum + mails, 0))} mails begun over a second later)`;
  };
  const p95 = percentile(tally.suppressionMs, 0.95);
  const handed = Map.groupBy(sink.handOffs, ({ address }) => wayOf(address).way);
  const perWay = WAYS.map((way) => `${way} ${handed.get(way)?.length ?? 0} of ${tally.asked[way]}`).join(
    ', ',
  );
  process.stdout.write(
    `${tally.suppressedAt.size} mailboxes, each suppressed at a random instant while a send came to it in each way\n` +
      `  answers ${JSON.stringify(Object.fromEntries(tally.answers))}; ${deferred.size} were told 450 at first\n` +
      `  mails handed off of those accepted: ${perWay}\n` +
      `  the suppressions’ 201 took p95 ${p95.toFixed(0)} ms\n` +
      `  SMTP DATA begun after the 201: ${late.length}\n` +
      `  of ${campaigns.count} campaigns ${stopped('paused')}, ${stopped('canceled')}\n`,
  );
  // Where nothing left by a way, nothing was tried.
  const broken = late.length + restless.reduce((sum, { mails }) => sum + mails, 0);
  if (broken > 0 || WAYS.some((way) => !handed.has(way))) process.exitCode = 1;
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
