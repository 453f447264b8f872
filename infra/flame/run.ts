/**
 * `npm run flame -- [--seconds N] [--into DIR] [--data DIR]`
 *
 * Where the time of each process of the running platform goes: samples one after the other through its inspector, N
 * seconds each (8), and writes a flame graph of each into DIR (docs/measuring), with the functions that took longest in
 * words. What they do meanwhile is another command's: `npm run load` beside it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { processesOf } from '@customer-platform/kit/app-processes.ts';
import { readPlatform } from '@customer-platform/kit/platform.ts';
import { descendantsOf, starterOf } from '@customer-platform/kit/processes.ts';
import { profileProcess } from './cpu-profile.ts';
import { drawFlames } from './flame-graph.ts';

const root = resolve(import.meta.dirname, '../..');
const NODE_APPS = /^(?:gateway|core|crm|identity|messaging|loyalty)/;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    into: { type: 'string', default: join(root, 'docs/measuring') },
    data: { type: 'string', default: join(root, '.data') },
  },
});
const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 60)) throw new Error('--seconds is a number from 1 to 60.');
const platform = readPlatform(values.data);
const into = resolve(values.into);
mkdirSync(into, { recursive: true });

const own = new Set(
  ['core', 'crm', 'identity', 'messaging', 'loyalty'].flatMap((app) =>
    processesOf(platform, app).map(({ pid }) => pid),
  ),
);
const processes = descendantsOf(starterOf(platform.base_url)).filter(
  ({ pid, name }) => NODE_APPS.test(name) && (own.has(pid) || name === 'gateway'),
);
for (const { pid, name } of processes.sort((a, b) => a.name.localeCompare(b.name))) {
  const { svg, busiest } = drawFlames(name, await profileProcess(pid, seconds));
  const file = join(into, `${name.replace(' ', '-')}.svg`);
  writeFileSync(file, svg);
  const shares = busiest.functions.map(
    ({ name: by, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${by}`,
  );
  process.stdout.write(
    `${name}: at work ${(busiest.busy * 100).toFixed(0)} % of the time, ${file}\n${shares.join('\n')}\n`,
  );
}
