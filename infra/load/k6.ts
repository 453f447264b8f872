import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const VERSION = 'v1.8.1';

/** Where k6 is: `$K6`, on the PATH, or built once into `.data/bin` by Go. @throws Error with the remedy. */
export async function findK6(root: string, say: (line: string) => void): Promise<string> {
  const built = join(root, '.data', 'bin', 'k6');
  for (const candidate of [process.env['K6'], 'k6', built]) {
    if (candidate === undefined) continue;
    const works = await run(candidate, ['version']).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  say(`building k6 ${VERSION} with Go, once (about a minute) …`);
  mkdirSync(join(root, '.data', 'bin'), { recursive: true });
  await run('go', ['install', `go.k6.io/k6@${VERSION}`], {
    env: { ...process.env, GOBIN: join(root, '.data', 'bin'), GOFLAGS: '-mod=mod' },
    timeout: 570_000,
  }).catch((error: Error) => {
    throw new Error(
      `k6 is not on the PATH and could not be built: install k6 or Go. (${error.message.split('\n')[0]})`,
    );
  });
  if (!existsSync(built)) throw new Error('Go built k6 but it is not where GOBIN says; install k6 by hand.');
  return built;
}

export interface Metrics {
  requests: number;
  failed: number;
  dropped: number;
  statuses: Record<string, number>;
  milliseconds: { p50: number; p95: number; p99: number; max: number };
}

/** Runs one k6 script to its end and reads its summary. */
export async function runK6(
  k6: string,
  script: string,
  environment: Record<string, string>,
  summaryFile: string,
): Promise<void> {
  const flags = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const child = spawn(
    k6,
    [
      'run',
      '--quiet',
      '--no-usage-report',
      '--address',
      '',
      ...flags,
      '-e',
      `SUMMARY=${summaryFile}`,
      script,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const stop = (): void => void child.kill('SIGINT');
  process.once('SIGINT', stop);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  process.off('SIGINT', stop);
  if (code !== 0) throw new Error(`k6 ended with ${code}`);
}
