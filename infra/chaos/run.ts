/**
 * `npm run chaos -- [--kills N] [--rate N] [--keep]`
 *
 * Starts a platform of its own, puts load on it, and kills -9 a process by chance, N times: an app, the broker,
 * Postgres. Afterwards every event that was answered 202 must be stored once, its points posted once, its mail sent
 * once, or be known as in doubt and never sent twice. Beside it points are adjusted, spent and reversed; each key
 * must stand in the ledger once, and every balance be the sum of its transactions; and a campaign runs, rests and goes
 * on, and writes to everybody once. Ends with exit code 1 if anything
 * was lost or doubled.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pointMailAt } from '@customer-platform/kit/mail-settings.ts';
import {
  type EventCounts,
  type Platform,
  get,
  readCounts,
  readPlatform,
} from '@customer-platform/kit/platform.ts';
import { type Process, descendantsOf, readProcesses } from '@customer-platform/kit/processes.ts';
import { Sink } from '@customer-platform/kit/sink.ts';
import { SteadyClient } from '@customer-platform/kit/steady-client.ts';
import { SteadyTill } from '@customer-platform/kit/postings.ts';
import { settled } from '@customer-platform/kit/settled.ts';
import { type Verdict, judge } from '@customer-platform/kit/verdict.ts';
import { TroubledCampaign } from './campaign.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    rate: { type: 'string', default: '100' },
    pause: { type: 'string', default: '6' },
    keep: { type: 'boolean', default: false },
  },
});
const say = (line: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** More than ever wait for their 202 on a well machine; one that is too slow is not buried under what is tried again. */
const OPEN_AT_MOST = 2_000;
const POSTINGS_PER_S = 5;
const PEOPLE_OF_CAMPAIGN = 2_000;
const STARTED_WITHIN_MS = 300_000;
const SETTLED_WITHIN_MS = 240_000;
/** What may be killed; the mail catcher and the program that started everything are not part of the service. */
const VICTIMS = [
  'gateway',
  'core',
  'core api',
  'core worker',
  'crm',
  'identity',
  'messaging',
  'loyalty',
  'kafka',
  'postgres',
];

async function main(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'chaos-'));
  say(`starting a platform of its own in ${data}`);
  const starter = start(data);
  const sink = new Sink(20);
  try {
    await started(starter, data);
    const platform = readPlatform(data);
    await pointMailAt(platform, await sink.listen());
    const client = new SteadyClient(platform);
    await client.introduce();
    client.start(Number(values.rate), OPEN_AT_MOST);
    const till = new SteadyTill(platform);
    await till.start(POSTINGS_PER_S);
    const campaign = await TroubledCampaign.start(platform, PEOPLE_OF_CAMPAIGN);
    await killAll(starter, platform, client);
    say('no more kills; waiting for every event’s 202');
    await Promise.all([client.finish(), till.finish()]);
    const ofCampaign = await campaign.finish(sink.handOffs);
    const counts = await settled(platform);
    say(
      `answers other than 202, each tried again: ${JSON.stringify(Object.fromEntries(client.log.hiccups))}`,
    );
    if (client.log.notSent > 0) say(`${client.log.notSent} were not sent: too many waited for their 202`);
    say(`of postings likewise: ${JSON.stringify(Object.fromEntries(till.log.hiccups))}`);
    const promises = { events: client.log, postings: till.log };
    const verdict = await judge(platform, promises, sink.handOffs);
    verdict.lost.push(...ofCampaign.lost);
    verdict.doubled.push(...ofCampaign.doubled);
    verdict.lines.push(ofCampaign.line);
    report(verdict, counts);
  } finally {
    await stopped(starter);
    await sink.close();
    if (!values.keep) rmSync(data, { recursive: true, force: true });
  }
}

function start(data: string): ChildProcess {
  const child = spawn(process.execPath, [join(root, 'infra/local/start.mjs'), '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: root,
  });
  const log = createWriteStream(join(data, 'start.log'));
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  return child;
}

/** Waits until the platform has described itself and answers. */
async function started(starter: ChildProcess, data: string): Promise<void> {
  const deadline = Date.now() + STARTED_WITHIN_MS;
  while (Date.now() < deadline) {
    if (starter.exitCode !== null)
      throw new Error(`The platform did not start; see ${data}/start.log (use --keep).`);
    const ready = await Promise.resolve()
      .then(() => readCounts(readPlatform(data)))
      .then(
        () => true,
        () => false,
      );
    if (ready) return;
    await sleep(500);
  }
  throw new Error('The platform did not start within five minutes.');
}

async function killAll(starter: ChildProcess, platform: Platform, client: SteadyClient): Promise<void> {
  const kills = Number(values.kills);
  const order = shuffledRounds(kills, starter.pid as number);
  for (let n = 1; n <= kills; n += 1) {
    await sleep(Number(values.pause) * 1000 * (0.5 + Math.random()));
    const victim = pick(order(), starter.pid as number);
    if (victim === undefined) {
      say(`kill ${n}/${kills}: nothing to kill is running just now`);
      continue;
    }
    process.kill(victim.pid, 'SIGKILL');
    say(
      `kill ${n}/${kills}: ${victim.name} (pid ${victim.pid}); ${client.log.accepted.size} accepted, ${client.waiting} waiting`,
    );
  }
  await answering(platform);
}

/** Names in random order, each kind once before any comes twice, so that twenty kills reach all of them. */
function shuffledRounds(kills: number, starter: number): () => string {
  const kinds = [...new Set(descendantsOf(starter).map(({ name }) => name))].filter((name) =>
    VICTIMS.includes(name),
  );
  const rounds: string[] = [];
  while (rounds.length < kills) {
    rounds.push(
      ...kinds
        .map((name) => ({ name, at: Math.random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ name }) => name),
    );
  }
  return () => rounds.shift() as string;
}

/** Of several processes of one name (Postgres has a backend per connection) the one whose parent is not of that name. */
function pick(name: string, starter: number): Process | undefined {
  const all = readProcesses();
  const family = descendantsOf(starter, all).filter((candidate) => candidate.name === name);
  const pids = new Set(family.map(({ pid }) => pid));
  // A guardian that carries the name in its own command line has the real process as its child: take the deepest
  // of the chain that is not itself a Postgres backend.
  const heads = family.filter(({ parent }) => !pids.has(parent));
  if (name === 'postgres') return heads[0];
  const leaves = family.filter(({ pid }) => !family.some(({ parent }) => parent === pid));
  return leaves[0] ?? heads[0];
}

async function answering(platform: Platform): Promise<void> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const up = await get(platform, '/v1/core/usage').then(
      () => true,
      () => false,
    );
    if (up) return;
    if (Date.now() > deadline) throw new Error('The platform does not answer any more.');
    await sleep(500);
  }
}

function report(verdict: Verdict, counts: EventCounts): void {
  const { accepted, stored, duplicates, dead_lettered: dead, pending } = counts;
  const holds = accepted === stored + duplicates + dead + pending;
  say(
    `accepted ${accepted} = stored ${stored} + duplicates ${duplicates} + dead-lettered ${dead} + pending ${pending}: ${holds ? 'holds' : 'DOES NOT HOLD'}`,
  );
  for (const line of verdict.lines) say(line);
  for (const line of verdict.lost.slice(0, 20)) say(`  lost: ${line}`);
  for (const line of verdict.doubled.slice(0, 20)) say(`  doubled: ${line}`);
  say(
    `${verdict.lost.length} lost, ${verdict.doubled.length} doubled (${verdict.inDoubt} mails in doubt, not sent again)`,
  );
  if (verdict.lost.length + verdict.doubled.length > 0 || !holds) process.exitCode = 1;
}

async function stopped(starter: ChildProcess): Promise<void> {
  if (starter.exitCode !== null) return;
  const exited = new Promise((done) => starter.once('exit', done));
  starter.kill('SIGTERM');
  const late = setTimeout(() => starter.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(late);
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  // The clients would go on asking a platform that is no more.
  process.exit(1);
});
