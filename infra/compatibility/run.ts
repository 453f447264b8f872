/**
 * `npm run compatibility -- [REF] [--against REF] [--only MODULE,…] [--static]`
 *
 * Whether the release of REF (the commit before, unless given) and this checkout serve side by side, as two releases do
 * during a deploy. REF is checked out into a work tree of its own and built. Then
 *
 * - its contract tests (contract-specs.ts) run on databases that this checkout's migrations have made;
 * - its test of the whole chain runs with half of the apps of either release, and with the other half;
 * - this checkout's apps start on databases where only REF's migrations have run: they must not serve, and say why;
 * - squawk judges the migrations, and oasdiff the API (`--static`: these two alone).
 *
 * What fails is run again on databases of REF's own: what fails there too says nothing about the two. `--against` takes
 * another commit in place of this checkout. Prints a table, and ends with exit code 1 unless they serve side by side.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '@customer-platform/local/platform/build.ts';
import { type AppName, APPS, ROOT } from '@customer-platform/local/platform/modules.ts';
import { Checkout, commitOf, type Release } from './checkout.ts';
import { OwnServers } from './own-servers.ts';
import { SideBySide } from './side-by-side.ts';
import { type Row, isCompatible, tableOf } from './report.ts';
import { staticChecks } from './static-checks.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    only: { type: 'string' },
    static: { type: 'boolean', default: false },
  },
});
const say = (line: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);

async function main(ref: string): Promise<void> {
  const rows: Row[] = [];
  commitOf(ref);
  await build();
  if (values.against === undefined) rows.push(...staticChecks(ref));
  if (!values.static) rows.push(...(await runBoth(ref)));
  for (const line of ['', ...tableOf(rows), '']) process.stdout.write(`${line}\n`);
  const compatible = isCompatible(rows);
  say(compatible ? 'They serve side by side.' : 'They do not serve side by side.');
  if (!compatible) process.exitCode = 1;
}

async function runBoth(ref: string): Promise<Row[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'customer-platform-releases-')));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const checkOut = async (commit: string, name: string): Promise<Checkout> => {
    const checkout = await Checkout.of(commit, join(folder, name), say);
    closing.push(() => checkout.remove());
    return checkout;
  };
  try {
    const newer: Release =
      values.against === undefined
        ? { name: 'this checkout', root: ROOT }
        : await checkOut(values.against, 'newer');
    const older = await checkOut(ref, 'older');
    const servers = new OwnServers();
    closing.push(() => servers.stop());
    say('starting PostgreSQL and Kafka');
    await servers.start();
    const apps = APPS.filter((app) => values.only === undefined || values.only.split(',').includes(app));
    return await new SideBySide(older, newer, servers, say).judge(apps satisfies AppName[]);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
await main(positionals[0] ?? 'HEAD~1').catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
