import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How long it stays for the next walk once nobody uses it. */
const STAYS_MS = 15_000;

/**
 * The platform that walks of all workers share, a service of the run as PostgreSQL is. The first connection starts it; each
 * is told its address in a line of JSON, or why there is none, and uses it until it closes.
 */
export class PlatformService {
  private readonly users = new Set<Socket>();
  private platform: { child: ChildProcess; line: Promise<string> } | undefined;
  private leaving: NodeJS.Timeout | undefined;

  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    server.on('connection', (socket) => this.take(socket));
  }

  static async listen(): Promise<PlatformService> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return new PlatformService(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends the platform, and waits until it has. */
  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.users) socket.destroy();
    await this.end();
  }

  private take(socket: Socket): void {
    clearTimeout(this.leaving);
    this.users.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.users.delete(socket);
      if (this.users.size === 0) this.leaving = setTimeout(() => void this.end(), STAYS_MS).unref();
    });
    void this.address().then((line) => socket.write(`${line}\n`));
  }

  private address(): Promise<string> {
    if (this.platform === undefined || hasEnded(this.platform.child)) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'platform-program.mjs')], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      this.platform = { child, line: firstLine(child) };
    }
    return this.platform.line;
  }

  private async end(): Promise<void> {
    clearTimeout(this.leaving);
    const child = this.platform?.child;
    this.platform = undefined;
    if (child === undefined || hasEnded(child)) return;
    child.stdin?.end();
    await once(child, 'exit');
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Reads what it prints first, or what it wrote of its fault. */
async function firstLine(child: ChildProcess): Promise<string> {
  let faults = '';
  child.stderr?.on('data', (chunk: Buffer) => (faults += chunk.toString()));
  if (child.stdout)
    for await (const line of createInterface({ input: child.stdout })) {
      child.stdout.resume();
      return line;
    }
  return JSON.stringify({ error: faults });
}
