import { execFile, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@customer-platform/kit/cache.mjs';
import { foreground } from '@customer-platform/kit/foreground.ts';

const run = promisify(execFile);
const VERSION = '4.32.5';
const INSTALL_WITHIN_MS = 300_000;

/**
 * Where Schemathesis of this version is: in a virtual environment of its own, made by pip the first time.
 * @throws Error with the remedy
 */
export async function ensureSchemathesis(say: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder(), `schemathesis-${VERSION}`);
  const program = join(folder, 'bin/schemathesis');
  if (existsSync(program)) return program;
  say(`installing Schemathesis ${VERSION} with pip, once …`);
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: INSTALL_WITHIN_MS });
    const packages = ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
    await run(join(folder, 'bin/pip'), packages, { timeout: INSTALL_WITHIN_MS });
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    const reason = (cause as Error).message.trim().split('\n').at(-1);
    throw new Error(
      `Schemathesis needs Python 3.10 or newer with venv and pip, and could not be installed: ${reason}`,
      { cause },
    );
  }
  return program;
}

/** What is fuzzed, and how long. */
interface FuzzTarget {
  description: string;
  key: string;
  /** Ids that only GET may name: what the run stands on. */
  spared: readonly string[];
  phases: string;
  examples: string;
  seed: string | undefined;
  /** Of which routes, by a pattern of their names; undefined for all. */
  only: string | undefined;
  reportFolder: string;
}

/** Runs all checks and shows their progress. @returns Schemathesis's exit code: 0 found nothing, 1 failures */
export async function runSchemathesis(program: string, target: FuzzTarget): Promise<number> {
  const child = spawn(
    program,
    [
      ...['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', target.description],
      ...['--checks', 'all', '--phases', target.phases, '--max-examples', target.examples],
      ...['--max-failures', '500', '--continue-on-failure', '--no-shrink', '--generation-database', 'none'],
      ...['--report', 'json', '--report-dir', target.reportFolder],
      ...(target.only === undefined ? [] : ['--include-name-regex', target.only]),
      ...(target.seed === undefined ? [] : ['--seed', target.seed]),
    ],
    {
      // The hooks are found from the folder of the configuration.
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        FUZZ_KEY: target.key,
        FUZZ_SPARED: target.spared.join(','),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const code = await foreground(child);
  return code ?? 130;
}
