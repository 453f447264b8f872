import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';

const READY_WITHIN_MS = 240_000;

/** A platform of this run alone. */
interface OwnPlatform {
  /** Its data folder. */
  data: string;
  stop(): Promise<void>;
}

/** Starts the platform as `npm start` does, with data of its own in a folder named after its `purpose`, on free ports. */
export async function startOwnPlatform(
  root: string,
  purpose: string,
  say: (line: string) => void,
): Promise<OwnPlatform> {
  const data = mkdtempSync(join(tmpdir(), `customer-platform-${purpose}-`));
  say(`starting a platform of its own in ${data} …`);
  // The well-known ports are left to the platform that a person starts meanwhile.
  const port = String(await freePort());
  const child = spawn('npm', ['start', '--silent', '--', '--data', data, '--port', port], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', PLATFORM_DATABASE_URL: '', PLATFORM_KAFKA_BROKERS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!/Ready in/.test(output)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`The platform did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { data, stop };
}
