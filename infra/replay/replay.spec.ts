import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replay } from './replay.ts';

interface Sent {
  external_id: string;
  idempotency_key: string;
  n?: number;
}

let folder: string;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'replay-'));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function serving(
  answer: (events: Sent[], respond: Parameters<RequestListener>[1]) => void,
): Promise<string> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      answer((JSON.parse(Buffer.concat(chunks).toString()) as { events: Sent[] }).events, response);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const results = (events: Sent[], verdict: (event: Sent) => object = () => ({ event_id: 'e' })): string =>
  JSON.stringify({ results: events.map((event, index) => ({ index, ...verdict(event) })) });

function aFile(lines: (object | string)[]): string {
  const file = join(folder, 'events.jsonl');
  writeFileSync(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return file;
}

const files = (): { progressFile: string; refusedFile: string } => ({
  progressFile: join(folder, 'progress.json'),
  refusedFile: join(folder, 'refused.jsonl'),
});

it('accounts for every line: accepted, refused by code, no JSON, empty', async () => {
  const baseUrl = await serving((events, response) => {
    response
      .writeHead(202)
      .end(
        results(events, ({ n }) =>
          n === 3 ? { code: 'placeholder_identifier', detail: 'no' } : { event_id: 'e' },
        ),
      );
  });
  const file = aFile([
    { external_id: 'a', n: 1 },
    '',
    'nonsense',
    { external_id: 'b', n: 3 },
    { external_id: 'c', n: 4 },
  ]);
  const account = await replay({ file, to: { baseUrl, key: 'k' }, ...files() });
  expect(account).toMatchObject({
    settled_line: 5,
    sent: 3,
    accepted: 2,
    refused: { malformed_json: 1, placeholder_identifier: 1 },
  });
  const refused = readFileSync(files().refusedFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { line: number }).line);
  expect(refused.sort()).toEqual([3, 4]);
});

it('repeats what may yet pass, as Retry-After asks, and only that', async () => {
  let calls = 0;
  const seen: number[][] = [];
  const baseUrl = await serving((events, response) => {
    calls += 1;
    seen.push(events.map(({ n }) => n as number));
    if (calls === 1) response.writeHead(503, { 'retry-after': '1' }).end('{"code":"queue_unavailable"}');
    else if (calls === 2)
      response
        .writeHead(202)
        .end(results(events, ({ n }) => (n === 2 ? { code: 'rate_limited', retryable: true } : {})));
    else response.writeHead(202).end(results(events));
  });
  const file = aFile([
    { external_id: 'a', n: 1 },
    { external_id: 'a', n: 2 },
  ]);
  const account = await replay({ file, to: { baseUrl, key: 'k' }, lanes: 1, ...files() });
  expect(seen).toEqual([[1, 2], [1, 2], [2]]);
  expect(account).toMatchObject({ accepted: 2, refused: {} });
});

it('goes on where it was stopped, with the same keys, and keeps each contact in order', async () => {
  const got = new Map<string, Sent>();
  const order = new Map<string, number[]>();
  const stop = new AbortController();
  const baseUrl = await serving((events, response) => {
    for (const event of events) {
      if (!got.has(event.idempotency_key))
        order.set(event.external_id, [...(order.get(event.external_id) ?? []), event.n as number]);
      got.set(event.idempotency_key, event);
    }
    if (got.size > 2000) stop.abort();
    response.writeHead(202).end(results(events));
  });
  const file = aFile(Array.from({ length: 5000 }, (_, n) => ({ external_id: `c${n % 7}`, n })));
  const first = await replay({ file, to: { baseUrl, key: 'k' }, signal: stop.signal, ...files() });
  expect(first.settled_line).toBeLessThan(5000);
  const account = await replay({ file, to: { baseUrl, key: 'k' }, ...files() });
  expect(account.settled_line).toBe(5000);
  expect(got.size).toBe(5000);
  for (const numbers of order.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

it('ends with the platform’s words where no retry helps', async () => {
  const baseUrl = await serving((_events, response) => {
    response.writeHead(403).end('{"code":"permission_denied","detail":"core.events.write is missing"}');
  });
  const file = aFile([{ external_id: 'a' }]);
  await expect(replay({ file, to: { baseUrl, key: 'k' }, ...files() })).rejects.toThrow(
    'core.events.write is missing',
  );
});
