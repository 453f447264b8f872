import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below what Linux gives to outgoing connections: a process that died finds its port free when it starts again. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** A port of this machine that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => resolve(true));
  const free = await promise;
  if (free) await new Promise((done) => server.close(done));
  return free;
}
