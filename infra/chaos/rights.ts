/**
 * `npm run chaos:rights -- [--runs N] [--rows N] [--seed N] [--data DIR]`
 *
 * Starts a platform of its own, or uses the one whose data are in DIR. N times it has a person erased while a file is
 * imported, and kills -9 core, crm, loyalty or messaging meanwhile: at a step of the erasure, at a place in the file, or
 * at an instant by chance. Afterwards the erasure must be completed with four verified receipts and nothing of the person
 * be found in any table; the import must have every row once, and its errors without a gap. Ends with exit code 1 if
 * anything was wrong. The same seed makes the same choices.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOwnPlatform } from '@customer-platform/kit/own-platform.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import { Databases } from './databases.ts';
import { RightsRound } from './rights-round.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    rows: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    data: { type: 'string' },
  },
});
const say = (line: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);

async function run(data: string): Promise<void> {
  const platform = await runningPlatform(data);
  const seed = Number(values.seed);
  const runs = Number(values.runs);
  const kills = new Map<string, number>();
  let wrong = 0;
  say(`${runs} runs, seed ${seed}`);
  for (let number = 1; number <= runs; number += 1) {
    const databases = await Databases.open(platform);
    try {
      const round = new RightsRound(platform, databases, { seed, number, rows: Number(values.rows) });
      const { wrongs, killed, seconds } = await round.play();
      for (const each of killed) kills.set(each, (kills.get(each) ?? 0) + 1);
      wrong += wrongs.length > 0 ? 1 : 0;
      say(
        `run ${number}/${runs}: killed ${killed.join(', ')}; ${seconds} s; ${wrongs.length === 0 ? 'right' : 'WRONG'}`,
      );
      for (const each of wrongs) say(`  ${each}`);
    } finally {
      await databases.close();
    }
  }
  for (const [what, count] of [...kills].sort()) say(`${String(count).padStart(4)} × ${what}`);
  say(`${runs} runs, ${wrong} wrong (seed ${seed})`);
  if (wrong > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  if (values.data !== undefined) return run(resolve(values.data));
  const platform = await startOwnPlatform(root, 'rights', say);
  try {
    await run(platform.data);
  } finally {
    await platform.stop();
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exitCode = 1;
});
