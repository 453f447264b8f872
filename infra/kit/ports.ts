import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Free ports come from below the range that Linux gives to outgoing connections (32768 and up): a service that died
 * must find its port free when it is started again.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const HIGHEST_OF_ALL = 65_535;
const NEIGHBOURS = 50;
const ATTEMPTS = 200;

/** A program listens by then, or never will; so long no process of this machine is given a port that another was given. */
const PROMISED_MS = 10 * 60_000;

/** Hands out ports that are free now, none of them twice, as it takes a while until they are listened on. */
export class PortChoice {
  private readonly promised = new Set<number>();

  private readonly folder: string;

  /** @param folder where processes tell each other what they have handed out */
  constructor(folder = join(tmpdir(), 'customer-platform-ports')) {
    this.folder = folder;
  }

  /** A free port, `remembered` if that one is still free. @throws Error of one sentence where there is none. */
  async free(remembered?: number): Promise<number> {
    if (remembered !== undefined && (await this.take(remembered))) return remembered;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const port = randomInt(LOWEST, HIGHEST);
      if ((await this.take(port)) && this.isNobodyElses(port)) return port;
    }
    throw new Error(
      `No free port was found between ${LOWEST} and ${HIGHEST}: end some of the programs that listen there.`,
    );
  }

  /** `preferred`, or the next free one above it: the addresses that people type. */
  async preferred(preferred: number): Promise<number> {
    for (let port = preferred; port < Math.min(preferred + NEIGHBOURS, HIGHEST_OF_ALL + 1); port += 1) {
      if (await this.take(port)) return port;
    }
    return this.free();
  }

  private async take(port: number): Promise<boolean> {
    if (this.promised.has(port) || !(await isFree(port))) return false;
    this.promised.add(port);
    return true;
  }

  /** Claims the port for this process. @returns false where another process was given it lately */
  private isNobodyElses(port: number): boolean {
    const period = Math.floor(Date.now() / PROMISED_MS);
    try {
      for (const name of this.notes()) {
        if (Number(name.split('-')[0]) < period - 1) rmSync(join(this.folder, name), { force: true });
        else if (name === `${period - 1}-${port}`) return false;
      }
      writeFileSync(join(this.folder, `${period}-${port}`), '', { flag: 'wx' });
      return true;
    } catch (error) {
      // Where nothing can be written down others cannot be told; the port is free all the same.
      return (error as NodeJS.ErrnoException).code !== 'EEXIST';
    }
  }

  private notes(): string[] {
    if (!existsSync(this.folder)) mkdirSync(this.folder, { recursive: true });
    return readdirSync(this.folder);
  }
}

const shared = new PortChoice();

/** A free port that this process has not handed out before. */
export function freePort(): Promise<number> {
  return shared.free();
}

/** Whether `port` can be listened on now, on every local address and on the loopback one. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '0.0.0.0'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
