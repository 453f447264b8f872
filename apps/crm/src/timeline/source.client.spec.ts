import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { newId } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { FRAGMENTS, type Fragment } from './fragments.js';
import { Deadline, SourceClient } from './source.client.js';

/** Listens, says where, and does nothing ever after: not even take a connection. */
const HANGING = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port) + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
/** More than its queue of connections that nobody has taken holds. */
const WAITING = 8;

describe('a source that takes no connections', () => {
  let module: ChildProcess;
  let waiting: Socket[] = [];
  let client: SourceClient;
  const before = { ...process.env };

  beforeAll(async () => {
    module = spawn(process.execPath, ['-e', HANGING], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
    const [chunk] = (await once(module.stdout ?? module, 'data')) as [Buffer];
    const port = Number(chunk.toString());
    waiting = Array.from({ length: WAITING }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await Promise.race(waiting.map((socket) => once(socket, 'connect')));
    const url = `http://127.0.0.1:${String(port)}`;
    Object.assign(process.env, { CORE_URL: url, LOYALTY_URL: url, MESSAGING_URL: url });
    client = new SourceClient();
  });
  afterAll(async () => {
    process.env = before;
    waiting.forEach((socket) => socket.destroy());
    module.kill('SIGKILL');
    await client.onApplicationShutdown();
  });

  it('is given up when the time is over, while its connection is still being made', async () => {
    const [fragment] = FRAGMENTS as [Fragment];
    const context = { correlationId: newId(), authorization: 'Bearer key' } as RequestContext;
    const read = (deadline: Deadline): Promise<unknown> =>
      client
        .readAll(
          [fragment],
          context,
          { contactId: newId(), limit: 1, filters: [], after: () => undefined },
          deadline,
        )
        .then((answers) => answers.get(fragment));
    const [short, long] = [new Deadline(20), new Deadline(60_000)];
    let connecting = true;
    const other = read(long).finally(() => (connecting = false));
    expect(await read(short)).toEqual({ kind: 'unreachable' });
    expect(connecting).toBe(true);
    expect(await other).toEqual({ kind: 'unreachable' });
    short.end();
    long.end();
  });
});
