import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Free ports come from below the range that Linux gives to outgoing connections (32768 and up): a service that died
 * must find its port free when it is started again.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const NEIGHBOURS = 50;

/** Ports handed out by this process and maybe not yet listened on. */
const promised = new Set<number>();

/** Whether `port` can be listened on now, on every local address and on the loopback one. */
export async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '0.0.0.0'));
}

/** A free port, `remembered` if that one is still free. */
export async function freePort(remembered?: number): Promise<number> {
  if (remembered !== undefined && !promised.has(remembered) && (await isFree(remembered)))
    return promise(remembered);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!promised.has(port) && (await isFree(port))) return promise(port);
  }
  throw new Error(
    `No free port was found between ${LOWEST} and ${HIGHEST}: end some of the programs that listen.`,
  );
}

/** `preferred`, or the next free one above it: the addresses that people type. */
export async function preferredPort(preferred: number): Promise<number> {
  for (let port = preferred; port < preferred + NEIGHBOURS; port += 1) {
    if (!promised.has(port) && (await isFree(port))) return promise(port);
  }
  return freePort();
}

function promise(port: number): number {
  promised.add(port);
  return port;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
