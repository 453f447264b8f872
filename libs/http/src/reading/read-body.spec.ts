import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { readBytes } from './read-body.js';

const LIMIT = 64 * 1024;

/** One request that sends `bytes`, as the server that takes it sees it, and its caller's connection. */
async function aRequest(bytes: string): Promise<{ request: IncomingMessage; caller: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined);
  const requested = once(server, 'request');
  caller.write(bytes, 'latin1');
  const [request] = (await requested) as [IncomingMessage];
  request.socket.once('close', () => server.close());
  return { request, caller };
}

const read = (request: IncomingMessage, gzip = false): Promise<string> =>
  readBytes(request, { body: 'raw', bodyLimit: LIMIT, gzip }).then(
    (bytes) => bytes.toString(),
    (error: Error) => error.name,
  );

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\n';
const UNFINISHED = `${HEAD}Content-Length: 12\r\n\r\n{"na`;

describe('a caller that breaks off', () => {
  it.each([
    ['while its body is read', UNFINISHED],
    ['while its gzip is inflated', `${HEAD}Content-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\x1f\x8b`],
    ['in a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhe`],
  ])('%s is no fault of the service', async (_when, bytes) => {
    const { request, caller } = await aRequest(bytes);
    const answer = read(request, true);
    caller.resetAndDestroy();
    expect(await answer).toBe('RequestAborted');
  });

  it.each([false, true])('before its body is asked for is noticed (gzip %s)', async (gzip) => {
    const { request, caller } = await aRequest(
      gzip ? UNFINISHED.replace('\r\n\r\n', '\r\nContent-Encoding: gzip\r\n\r\n') : UNFINISHED,
    );
    const closed = new Promise((resolve) => request.once('close', resolve));
    caller.resetAndDestroy();
    await closed;
    expect(await read(request, gzip)).toBe('RequestAborted');
  });
});

it('a body that comes byte by byte is read as it was sent', async () => {
  const text = 'äöü'.repeat(1_000);
  const chunks = [...Buffer.from(text)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`);
  const { request, caller } = await aRequest(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  caller.write(Buffer.from(`${chunks.join('')}0\r\n\r\n`, 'latin1'));
  expect(await read(request)).toBe(text);
  caller.destroy();
});

it('bodies that do not end take no more than there is: the eldest give way', async () => {
  const head = `${HEAD}Content-Length: 1000000\r\n\r\n`;
  const begun = await Promise.all(Array.from({ length: 100 }, () => aRequest(head)));
  const answers = begun.map(({ request }) =>
    readBytes(request, { body: 'raw', bodyLimit: 1 << 20, gzip: false }).catch(
      (error: { code?: string }) => error.code,
    ),
  );
  let received = 0;
  for (const { request, caller } of begun) {
    request.on('data', (chunk: Buffer) => (received += chunk.length));
    caller.write(Buffer.alloc(900_000));
  }
  while (received < begun.length * 900_000) await new Promise((resolve) => setImmediate(resolve));
  begun.at(-1)?.caller.write(Buffer.alloc(100_000));
  expect(await Promise.race(answers.slice(0, -1))).toBe('request_timeout');
  for (const { caller } of begun) caller.destroy();
  await Promise.all(answers);
});
