/**
 * `npm run replay -- FILE.jsonl [--rate N] [--restart]`
 *
 * Sends a file of events, one JSON object a line, through the public API, and accounts for every line.
 * Where to: the running platform of `.data/demo.json`, or BASE_URL and API_KEY.
 */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type EventCounts,
  type Platform,
  drained,
  readCounts,
  runningPlatform,
} from '@customer-platform/kit/platform.ts';
import { ProgressBar } from './progress-bar.ts';
import { countLines } from './lines.ts';
import type { Account } from './progress.ts';
import { replay } from './replay.ts';

const root = resolve(import.meta.dirname, '../..');

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rate: { type: 'string' },
      restart: { type: 'boolean', default: false },
      data: { type: 'string', default: join(root, '.data') },
    },
  });
  const file = positionals[0];
  if (file === undefined)
    throw new Error('Name a file of events, one JSON object a line: npm run replay -- FILE.jsonl');
  if (!existsSync(file)) throw new Error(`${resolve(file)} is not there.`);
  const rate = values.rate === undefined ? undefined : Number(values.rate);
  if (rate !== undefined && !(rate > 0)) throw new Error('--rate is in events a second, more than 0.');
  const platform = process.env['BASE_URL'] === undefined ? await runningPlatform(values.data) : undefined;
  const to = {
    baseUrl: process.env['BASE_URL'] ?? platform?.base_url ?? '',
    key: process.env['API_KEY'] ?? platform?.ingestion_key ?? '',
  };
  const progressFile = `${file}.progress.json`;
  if (values.restart) rmSync(progressFile, { force: true });
  const before = platform && (await readCounts(platform));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const bar = new ProgressBar(await countLines(file));
  const account = await replay({
    file,
    to,
    progressFile,
    refusedFile: `${file}.refused.jsonl`,
    ...(rate === undefined ? {} : { rate }),
    signal: stop.signal,
    onProgress: ({ settled_line: line }, note) => bar.show(line, note),
  }).finally(() => bar.end());
  printAccount(account, file);
  if (stop.signal.aborted) process.stdout.write('Stopped; the same command goes on from here.\n');
  else if (platform !== undefined && before !== undefined) await printStored(platform, before);
}

function printAccount(account: Account, file: string): void {
  const refused = Object.entries(account.refused);
  process.stdout.write(`sent      ${account.sent}\naccepted  ${account.accepted}\n`);
  for (const [code, count] of refused) process.stdout.write(`refused   ${count}  ${code}\n`);
  if (refused.length > 0) process.stdout.write(`Each refused line with its reason: ${file}.refused.jsonl\n`);
}

async function printStored(platform: Platform, before: EventCounts): Promise<void> {
  const after = await drained(platform, 120);
  const rise = (name: keyof EventCounts): number => after[name] - before[name];
  process.stdout.write(
    `stored    ${rise('stored')}  (duplicates ${rise('duplicates')}, dead-lettered ${rise('dead_lettered')}, pending ${after.pending})\n`,
  );
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
