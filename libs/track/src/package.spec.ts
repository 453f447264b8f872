import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  buildAll,
  eventually,
  runtimes,
  startChromium,
  wordsFor,
  type Browser,
  type Runtime,
} from '@customer-platform/testing';
import { bundled } from './page.fixture.js';
import { Receiver } from './receiver.fixture.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
/** What a page may pay for the sender. */
const MOST_GZIPPED_BYTES = 5_000;

let folder: string;
let installed: string;
let tarball: string;
let receiver: Receiver;
beforeAll(async () => {
  await buildAll();
  folder = await mkdtemp(join(tmpdir(), 'track-package-'));
  // As every project has one: Deno looks into node_modules of no other.
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(ROOT, 'libs/track/dist'),
  });
  tarball = join(folder, (JSON.parse(packed.stdout) as [{ filename: string }])[0].filename);
  installed = join(folder, 'node_modules/@customer-platform/track');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

/** A program of the repository's packages, in the folder in which the package is installed. */
const tool = (path: string, ...words: string[]) =>
  run(process.execPath, [join(ROOT, 'node_modules', path), ...words], { cwd: folder });

/** The README's examples in JavaScript, of one heading, with the platform's address in place of the example's. */
async function examples(heading: string): Promise<string[]> {
  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  const section = readme.split(/^(?=## )/m).find((text) => text.startsWith(`## ${heading}\n`)) ?? '';
  return [...section.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) =>
    code.replaceAll('https://events.example.com', receiver.url),
  );
}

describe('the packed sender', () => {
  it('has compiled files, types and the README, and nothing else', async () => {
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort()).toEqual(['README.md', 'package.json']);
    expect(files.filter((name) => /spec|fixture/.test(name))).toEqual([]);
  });

  it('depends on nothing', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as object;
    expect(Object.keys(manifest).filter((name) => /dependencies|scripts/i.test(name))).toEqual([]);
  });

  it('is clean for publint', async () => {
    const { stdout } = await tool('publint/src/cli.js', 'run', tarball, '--strict');
    expect(stdout).toContain('All good!');
  });

  it('has types that every way of resolving them finds', async () => {
    // Ends with another code than 0 where it finds anything; CommonJS is left out, which imports it dynamically.
    await tool('@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only');
  });

  it('compiles where it is installed, in a program for browsers', async () => {
    const program = `import { createTracker, type Drop, type Kept } from '@customer-platform/track';
const drops: Drop[] = [];
const tracker = createTracker({ url: 'https://a.example', key: 'k', onDrop: (drop) => drops.push(drop) });
export const kept: Promise<Kept> = tracker.track('a', { b: 1 }, { occurredAt: new Date() });\n`;
    await writeFile(join(folder, 'program.ts'), program);
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
    for (const resolution of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ])
      await tool('typescript/bin/tsc', ...options, ...resolution, 'program.ts');
  });

  it('compiles where it is installed, in a program for Node', async () => {
    await writeFile(
      join(folder, 'server.ts'),
      `import { createFileTracker, QueueInUseError } from '@customer-platform/track/node';
export const open = createFileTracker({ url: 'https://a.example', key: 'k', file: 'q', fsync: false });
export const inUse = (error: unknown): boolean => error instanceof QueueInUseError;\n`,
    );
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
    await tool('typescript/bin/tsc', ...options, '--module', 'nodenext', 'server.ts');
  });

  it('is small for a page, and brings no module of Node', async () => {
    const code = await bundled();
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(MOST_GZIPPED_BYTES);
    expect(code).not.toMatch(/node:|\bimport\b/);
  });
});

describe('the examples of the README', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  it('run in every Node, Bun and Deno of this machine', async () => {
    const [example = ''] = await examples('In Node');
    await writeFile(join(folder, 'example.mjs'), `${example}\nawait tracker.close();\n`);
    const delivered: unknown[] = [];
    const expected: unknown[] = [];
    for (const runtime of await runtimes()) {
      const words = wordsFor(runtime, 'net', 'env', 'read', 'write', 'sys');
      const { stdout } = await run(runtime.path, [...words, 'example.mjs'], { cwd: folder, env: {} });
      delivered.push([runtime.path, stdout, receiver.events.length]);
      expected.push([runtime.path, 'stored\n', expected.length + 1]);
    }
    expect(delivered).toEqual(expected);
    for (const event of receiver.events)
      expect(event).toMatchObject({ event: 'invoice_paid', external_id: 'customer-1' });
  });

  it('keep a queue to one process, whichever of them runs it', async () => {
    const holding = `import { createFileTracker } from '@customer-platform/track/node';
const [, , file, holds] = process.argv;
const said = await createFileTracker({ url: '${receiver.url}', key: 'k', file }).then(
  async (tracker) => {
    if (holds) await new Promise((resolve) => process.stdin.once('data', resolve));
    await tracker.close();
    return 'opened';
  },
  (error) => error.name,
);
console.log(said);
process.exit();\n`;
    await writeFile(join(folder, 'holding.mjs'), holding);
    const options = { cwd: folder, env: {} };
    const all = await runtimes();
    for (const [number, holder] of all.entries()) {
      const file = `held-${number}.queue`;
      const words = (runtime: Runtime) => [
        // Deno shows who else runs on the machine (/proc) to programs that may do everything only.
        ...wordsFor(runtime, 'all'),
        'holding.mjs',
        file,
      ];
      const held = execFile(holder.path, [...words(holder), 'holds'], options);
      const ended = new Promise((resolve) => held.once('exit', resolve));
      try {
        await eventually(async () => expect(await readdir(folder)).toContain(`${file}.lock.1`));
        for (const other of all) {
          const { stdout } = await run(other.path, words(other), options);
          expect([holder.name, other.name, stdout]).toEqual([holder.name, other.name, 'QueueInUseError\n']);
        }
      } finally {
        held.stdin?.write('go on\n');
        await ended;
      }
    }
  });

  it('run in a page, from the files as they are installed', async () => {
    const imports = { '@customer-platform/track': '/track/index.js' };
    for (const name of await readdir(installed))
      if (name.endsWith('.js'))
        receiver.pages.set(`/track/${name}`, [
          'text/javascript',
          await readFile(join(installed, name), 'utf8'),
        ]);
    const [first = '', consent = ''] = await examples('In a page');
    const context = await browser.newContext();
    for (const [path, code] of Object.entries({ '/first': first, '/consent': consent })) {
      receiver.pages.set(path, [
        'text/html; charset=utf-8',
        `<!doctype html><button id="accept">Yes</button>
         <script type="importmap">${JSON.stringify({ imports })}</script><script type="module">${code}</script>`,
      ]);
      const page = await context.newPage();
      await page.goto(receiver.site + path, { waitUntil: 'load' });
      if (path === '/consent') await page.click('#accept');
    }
    await eventually(async () => expect(receiver.events).toHaveLength(4));
    await context.close();
    expect(receiver.events.map(({ type, event, external_id: who }) => [type, event, who])).toEqual([
      ['track', 'product_viewed', 'visitor-7f3a'],
      ['identify', undefined, 'customer-1'],
      ['track', 'purchase_completed', 'customer-1'],
      ['track', 'page_viewed', 'visitor-7f3a'],
    ]);
    expect(receiver.events[2]?.idempotency_key).toBe('invoice-1001');
  });
});
