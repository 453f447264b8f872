/**
 * `npm run revocation -- [--rounds N] [--per-kind] [--faults N] [--only plain,kafka,fill,cut,outage]
 *    [--kinds TEXT] [--outage SECONDS] [--data DIR]`
 *
 * The guarantee of identity.md §8, tried from outside: two instances of every module against one registry, 20 requests a
 * second to each, and every way to lose a right. After the 2xx no request begun over 1.0 s later may be permitted: with
 * all well (`--rounds`, the kinds in turn, or so many of each with `--per-kind`), then `--faults` rounds each with Kafka
 * stopped, with a fill paused across the change, with one instance of each module cut off from identity; at last
 * identity is killed for 30 s. With `--kinds` only ways to lose a right that have the text in their name. Prints the slowest observed loss of each kind. Ends with exit code 1 if the guarantee was
 * broken once.
 *
 * It starts a platform of its own, or uses the one whose data are in DIR, there in organizations of its own; the second
 * instances are its own in both cases.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOwnPlatform } from '@customer-platform/kit/own-platform.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import { adminUrl, connected } from '@customer-platform/kit/databases.ts';
import { fillPaused, kafkaStopped, oneCutOff, UNDISTURBED } from './disturbances.ts';
import { firstInstances, RunningPlatform, SecondInstances } from './instances.ts';
import { LOSSES } from './losses.ts';
import { type OutageBench, runOutage } from './outage.ts';
import { reportLoad, reportOutage, reportRounds } from './report.ts';
import { type Disturbance, type Round, runRound, TARGETS_OF_A_MACHINE } from './round.ts';
import { Tenants } from './tenants.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    'per-kind': { type: 'boolean', default: false },
    faults: { type: 'string', default: String(LOSSES.length) },
    only: { type: 'string', default: 'plain,kafka,fill,cut,outage' },
    kinds: { type: 'string', default: '' },
    outage: { type: 'string', default: '30' },
    data: { type: 'string' },
  },
});
const losses = LOSSES.filter(({ name }) => name.includes(values.kinds));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const delay = monitorEventLoopDelay({ resolution: 10 });

async function main(): Promise<void> {
  if (values.data !== undefined) return tryAll(resolve(values.data));
  const own = await startOwnPlatform(root, 'revocation', say);
  try {
    await tryAll(own.data);
  } finally {
    await own.stop();
  }
}

async function tryAll(data: string): Promise<void> {
  const platform = await runningPlatform(data);
  const running = new RunningPlatform(data);
  const environment = running.environmentOf('identity');
  const closing: (() => Promise<void>)[] = [];
  try {
    const second = await SecondInstances.start(root, running);
    closing.push(() => second.stop());
    const tenants = await Tenants.start(platform, environment['ENCRYPTION_KEY'] ?? '');
    closing.push(() => tenants.stop());
    const core = await connected(adminUrl(platform, 'core'));
    closing.push(() => core.end());
    delay.enable();
    const broken = await tryEach({
      ...{ root, second, tenants, core, platform: running },
      instances: [...firstInstances(running), ...second.all],
      identityDatabaseUrl: environment['DATABASE_URL'] ?? '',
    });
    say(`\n${broken === 0 ? 'The guarantee held.' : `The guarantee was broken ${broken} times.`}`);
    if (broken > 0) process.exitCode = 1;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function tryEach(bench: OutageBench): Promise<number> {
  const wanted = values.only.split(',');
  const disturbances: Record<string, Disturbance> = {
    plain: UNDISTURBED,
    kafka: kafkaStopped(bench.platform),
    fill: fillPaused(bench.second),
    cut: oneCutOff(bench.second),
  };
  const unknown = wanted.filter((name) => name !== 'outage' && !(name in disturbances));
  if (unknown.length > 0)
    throw new Error(`--only takes plain, kafka, fill, cut, outage; not ${unknown.join()}.`);
  say(
    `two instances of every module, 20 requests a second to each: ${TARGETS_OF_A_MACHINE} targets for a key, ${TARGETS_OF_A_MACHINE - 2} for a user`,
  );
  if (losses.length === 0) throw new Error(`No way to lose a right is called ${values.kinds}.`);
  let broken = 0;
  for (const [name, disturbance] of Object.entries(disturbances)) {
    if (!wanted.includes(name)) continue;
    const rounds = Number(name === 'plain' ? values.rounds : values.faults);
    broken += await tryRounds(bench, disturbance, rounds * (values['per-kind'] ? losses.length : 1));
  }
  if (wanted.includes('outage')) {
    broken += reportOutage(await runOutage(bench, Number(values.outage)), say);
    reportLoad(delay, say);
  }
  return broken;
}

/** So many rounds, the ways to lose a right in turn. */
async function tryRounds(bench: OutageBench, disturbance: Disturbance, count: number): Promise<number> {
  const rounds: Round[] = [];
  await disturbance.begin?.();
  try {
    for (let n = 0; n < count; n += 1) {
      const loss = losses[n % losses.length];
      if (loss) rounds.push(await runRound(bench, loss, disturbance));
    }
  } finally {
    await disturbance.end?.();
  }
  const broken = reportRounds(disturbance.name, rounds, say);
  reportLoad(delay, say);
  return broken;
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
