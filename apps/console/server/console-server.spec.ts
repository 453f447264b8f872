import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { CONSOLE_CLIENT_ID } from '@customer-platform/config';
import { acceptedEncoding } from './accepted-encoding.js';
import { readBuiltFiles } from './built-files.js';
import { type RunningConsole, startConsole } from './console-server.js';

const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = 'export const answer = 42;\n'.repeat(200);
const FILES: Record<string, string> = {
  'index.html': PAGE,
  'silent.html': '<!doctype html><title>Signing in</title>',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/index-Bxyyv2if.js': SCRIPT,
};

let folder: string;
let running: RunningConsole;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  writeFileSync(join(folder, 'secret.txt'), 'nobody reads this');
  const web = join(folder, 'web');
  mkdirSync(join(web, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(web, name), text);
  execFileSync(process.execPath, [join(import.meta.dirname, 'compress.mjs'), web]);
  running = await startConsole({
    host: '127.0.0.1',
    port: 0,
    files: readBuiltFiles(web),
    release: 'this one',
  });
});
afterAll(async () => {
  await running.close(100);
  rmSync(folder, { recursive: true });
});

interface Got {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Without what `fetch` adds and undoes. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const { hostname, port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    const request = ask({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, body: Buffer.concat(chunks) });
      });
    });
    request.on('error', reject).end();
  });
}

function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', reject).on('close', () => resolve(text));
  });
}

describe('the page', () => {
  it.each(['/console/', '/console/contacts', '/console/contacts/0190?tab=consents', '/console/index.html'])(
    'is answered at %s, asked for anew each time',
    async (path) => {
      const { status, headers, body } = await get(path);
      expect([status, body.toString()]).toEqual([200, PAGE]);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
    },
  );

  it('is no answer to what looks like a file and is none', async () => {
    for (const path of [
      '/console/assets/index-gone.js',
      '/console/favicon.ico',
      '/console/assets/x.js.map',
    ]) {
      const { status, headers, body } = await get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'route_not_found', instance: path });
    }
  });
});

describe('files', () => {
  const script = '/console/assets/index-Bxyyv2if.js';

  it('with a hash in their name are kept for ever, others are asked for again', async () => {
    expect((await get(script)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const icon = await get('/console/icon.svg');
    expect([icon.headers['cache-control'], icon.headers['content-type']]).toEqual([
      'no-cache',
      'image/svg+xml',
    ]);
  });

  it('come compressed as the caller takes it, each form with an ETag of its own', async () => {
    const plain = await get(script);
    const gzip = await get(script, { 'accept-encoding': 'gzip, deflate' });
    const brotli = await get(script, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(plain.body.toString()).toBe(SCRIPT);
    expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT);
    expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
      'br',
    ]);
    for (const { headers, body } of [plain, gzip, brotli]) {
      expect(headers.vary).toBe('Accept-Encoding');
      expect(headers['content-length']).toBe(String(body.length));
    }
    expect(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size).toBe(3);
    for (const compressed of ['/console/assets/index-Bxyyv2if.js.br', '/console/assets/index-Bxyyv2if.js.gz'])
      expect((await get(compressed)).status).toBe(404);
  });

  it('are not sent again to who has them', async () => {
    const { etag = '' } = (await get(script)).headers as { etag?: string };
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, body, headers } = await get(script, { 'if-none-match': known });
      expect([known, status, body.length, headers.etag]).toEqual([known, 304, 0, etag]);
    }
    expect((await get(script, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it.each(['bytes=5-2', 'bytes=-3', 'bytes=0-0,5-6', 'bytes=99999999-', 'nonsense'])(
    'come whole, whatever part is asked for: %s',
    async (range) => {
      const { status, body } = await get(script, { range });
      expect([status, body.toString()]).toEqual([200, SCRIPT]);
    },
  );
});

describe('methods', () => {
  it('HEAD is GET without the content', async () => {
    const [head, whole] = [await get('/console/', {}, 'HEAD'), await get('/console/')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(whole.headers['content-length']);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])('405 for %s', async (method) => {
    const { status, headers } = await get('/console/', {}, method);
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the configuration', () => {
  it('names the client and the release, and is never kept', async () => {
    const { headers, body } = await get('/console/config.json');
    expect(JSON.parse(body.toString())).toEqual({
      client_id: CONSOLE_CLIENT_ID,
      release: 'this one',
    });
    expect(headers['cache-control']).toBe('no-store');
  });
});

describe('headers', () => {
  it('let a page do nothing but what it was built for, be it an answer or a refusal', async () => {
    for (const path of ['/console/', '/console/assets/gone.js', '/elsewhere', '/console/config.json']) {
      const { headers } = await get(path);
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "base-uri 'none'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
          "trusted-types 'none'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['permissions-policy']).toContain('camera=()');
    }
  });

  it('let the page of the silent sign-in alone be framed, by the Console itself', async () => {
    const { headers } = await get('/console/silent.html?code=a');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'self'");
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
  });

  it('let mails be framed by the Console itself, with their styles and nothing else, out of its origin', async () => {
    const { headers, body } = await get('/console/mail-preview.html');
    const [script = ''] = /(?<=<script>).*(?=<\/script>)/s.exec(body.toString()) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(String(headers['content-security-policy']).split('; ').sort()).toEqual(
      [
        "default-src 'none'",
        `script-src 'sha256-${hash}'`,
        "style-src 'unsafe-inline'",
        'img-src data:',
        "form-action 'none'",
        "base-uri 'none'",
        'sandbox allow-scripts',
        "frame-ancestors 'self'",
      ].sort(),
    );
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'SAMEORIGIN',
      'x-dns-prefetch-control': 'off',
    });
  });
});

it.each([
  '/console/../secret.txt',
  '/console/..%2fsecret.txt',
  '/console/%2e%2e/secret.txt',
  '/console/assets/..\\..\\secret.txt',
  '/console//etc/passwd.txt',
  '/consolex',
  '/console',
  '/',
  'http://evil.example/console/../secret.txt',
])('no other file is reached by %s', async (target) => {
  const text = await raw(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 (400|404) /);
  expect(text).not.toContain('nobody reads this');
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['gzip, br', 'br'],
  ['GZIP;q=0.5, br;q=0', 'gzip'],
  ['*', 'br'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=nonsense', undefined],
  ['identity', undefined],
  ['sebra', undefined],
])('%s takes %s', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding);
});

it('does not start without what is to be served', () => {
  expect(() => readBuiltFiles(join(folder, 'web/assets'))).toThrow('build the Console first');
});
