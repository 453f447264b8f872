import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Browser, buildAll, runtimes, startChromium, wordsFor } from '@customer-platform/testing';
import { HostileServer, ok, problem, raw } from './hostile-server.fixture.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const SURVIVOR = '019a6f0e-2b1c-7c3d-9e4f-000000000000';
/** What a page may pay for the client. */
const MOST_GZIPPED_BYTES = 12_000;

let folder: string;
let tarball: string;
let server: HostileServer;
beforeAll(async () => {
  await buildAll();
  folder = await mkdtemp(join(tmpdir(), 'client-package-'));
  // As every project has one: Deno looks into node_modules of no other.
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(ROOT, 'libs/client/dist'),
  });
  tarball = join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
  const installed = join(folder, 'node_modules/@customer-platform/client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    await cp(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  server = await HostileServer.start();
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** A program of the repository's packages, on the tarball. */
const tool = (path: string, ...words: string[]) =>
  run(process.execPath, [join(ROOT, 'node_modules', path), ...words], { cwd: folder });

/** As a page gets it. In a program of its own: the bundler's native part refuses what Jest's contexts make. */
async function bundle(): Promise<{ code: string; imports: string[] }> {
  const { stdout } = await run(process.execPath, [join(ROOT, 'libs/client/bundle.ts'), '--json']);
  return JSON.parse(stdout) as { code: string; imports: string[] };
}

describe('the packed client', () => {
  it('has compiled files, types and the README, and nothing else', async () => {
    const files = await readdir(join(folder, 'node_modules/@customer-platform/client'));
    expect(files.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort()).toEqual(['README.md', 'package.json']);
    expect(files.filter((name) => /spec|fixture/.test(name))).toEqual([]);
  });

  it('needs the fetch wrapper and nothing else', async () => {
    const manifest = await readFile(
      join(folder, 'node_modules/@customer-platform/client/package.json'),
      'utf8',
    );
    const { dependencies } = JSON.parse(manifest) as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual(['openapi-fetch']);
  });

  it('is clean for publint', async () => {
    const { stdout } = await tool('publint/src/cli.js', 'run', tarball, '--strict');
    expect(stdout).toContain('All good!');
  });

  it('has types that every way of resolving them finds', async () => {
    // Ends with another code than 0 where it finds anything; CommonJS is left out, which imports it dynamically.
    await tool('@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only');
  });

  it('compiles where it is installed, in a program for browsers and in one for Node', async () => {
    await writeFile(
      join(folder, 'program.ts'),
      `import { createClient, ProblemError, type Schemas } from '@customer-platform/client';
export async function name(id: string): Promise<string | null> {
  const client = createClient({ baseUrl: 'https://api.example.com', credentials: () => 'token' });
  const { data } = await client.GET('/v1/core/contacts/{id}', { params: { path: { id } } });
  const contact: Schemas['ContactDto'] = data;
  return contact.first_name;
}
export const gone = (error: unknown): boolean => error instanceof ProblemError && error.code === 'not_found';\n`,
    );
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom,dom.asynciterable'];
    for (const resolution of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ])
      await tool('typescript/bin/tsc', ...options, ...resolution, 'program.ts');
  });

  it('is small for a page, and brings no module of Node', async () => {
    const { code, imports } = await bundle();
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(MOST_GZIPPED_BYTES);
    expect(imports).toEqual([]);
    expect(code).not.toContain('node:');
  });
});

/** A walk through what differs between runtimes: renewal, pages, waits, redirects, an error, giving up. */
const WALK = `
export async function walk(createClient, baseUrl) {
  const client = createClient({
    baseUrl,
    credentials: ({ renew }) => (renew ? 'new' : 'old'),
    retry: { firstWaitMs: 1, longestWaitMs: 1 },
  });
  const ids = [];
  for await (const { id } of client.items('/v1/core/contacts')) ids.push(id);
  const path = { id: ids[0] };
  const { mergedInto, etag } = await client.GET('/v1/core/contacts/{id}', { params: { path } });
  const refused = await client.POST('/v1/core/contacts', { body: {} }).catch((error) => error);
  const led = await client.POST('/v1/core/contacts', { body: {} }).catch((error) => error.fault);
  const signal = AbortSignal.abort(new Error('left'));
  const left = await client.GET('/v1/core/contacts', { signal }).catch((error) => error.message);
  return { ids, mergedInto, etag, refused: [refused.name, refused.code, refused.correlationId], led, left };
}
`;
const WALKED = {
  ids: ['a', 'b'],
  mergedInto: SURVIVOR,
  etag: '"1"',
  refused: ['ProblemError', 'duplicate_value', 'c-1'],
  led: 'redirected',
  left: 'left',
};

function answersTheWalk(): void {
  const page = (id: string, next_cursor: string | null) =>
    ok({ data: [{ id }], page: { limit: 1, next_cursor } });
  server.answers(
    problem(401, 'token_expired'),
    page('a', 'two'),
    problem(503, 'dependency_unavailable', { 'Retry-After': '0' }),
    page('b', null),
    raw(307, 'text/plain', '', { Location: `/v1/core/contacts/${SURVIVOR}` }),
    ok({ id: SURVIVOR }, { ETag: '"1"' }),
    problem(409, 'duplicate_value', {}, { correlation_id: 'c-1' }),
    raw(307, 'text/plain', '', { Location: '/v1/elsewhere' }),
  );
}

/** Only the first request carries the token that has expired; the redirect does not lose the new one. */
function expectCredentials(): void {
  const sent = server.arrived
    .filter(({ path }) => path.startsWith('/v1/'))
    .map((one) => one.headers.authorization);
  expect(sent.slice(1, 2)).toEqual(['Bearer new']);
  expect(sent).toHaveLength(8);
  expect(sent[5]).toBe(sent[4]);
}

describe('the client runs', () => {
  beforeEach(answersTheWalk);

  it('in every Node, Bun and Deno of this machine', async () => {
    const program = join(folder, 'walk.mjs');
    const calls = `import { createClient } from '@customer-platform/client';
console.log(JSON.stringify(await walk(createClient, '${server.url}')));`;
    await writeFile(program, WALK + calls);
    for (const runtime of await runtimes()) {
      answersTheWalk();
      const { path } = runtime;
      const words = wordsFor(runtime, 'net', 'env', 'read');
      const { stdout } = await run(path, [...words, program], { cwd: folder, env: { PATH: '/usr/bin' } });
      expect([path, JSON.parse(stdout)]).toEqual([path, WALKED]);
      expectCredentials();
    }
  });

  describe('in Chromium', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startChromium();
    });
    afterAll(() => browser.close());

    it('as it is bundled, on a page of the same origin', async () => {
      const { code } = await bundle();
      const page = await browser.newPage();
      await page.route('**/page/*', (route) => {
        const isScript = route.request().url().endsWith('.js');
        const contentType = isScript ? 'text/javascript' : 'text/html';
        return route.fulfill({ contentType, body: isScript ? code : '<!doctype html><title>Page</title>' });
      });
      await page.goto(`${server.url}/page/index.html`);
      const walked: unknown = await page.evaluate(`(async () => {
        ${WALK.replace('export ', '')}
        const { createClient } = await import('/page/client.js');
        return walk(createClient, '/');
      })()`);
      expect(walked).toEqual(WALKED);
      expectCredentials();
    });
  });
});
