import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Child, waitUntilReady } from '../services/child.ts';
import type { Guardian } from '../services/guardian.ts';
import { COMPILED_CODE } from './compiled-code.ts';

interface NodeProcess {
  name: string;
  /** The program and its arguments. */
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  log: string;
  guardian: Guardian;
  niceness?: number;
  /** Answers 200 when the process serves. */
  readyUrl: string;
}

const READY_SECONDS = 120;
const RELEASE_MEMORY = pathToFileURL(join(import.meta.dirname, 'release-memory.mjs')).href;

/** Starts a program of ours under this very Node; resolves when it serves. */
export async function startNodeProcess(spec: NodeProcess, began: (child: Child) => void): Promise<void> {
  const child = await Child.start({
    name: spec.name,
    command: process.execPath,
    args: ['--import', RELEASE_MEMORY, ...spec.args],
    env: { ...COMPILED_CODE, ...spec.env, MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
    cwd: spec.cwd,
    log: spec.log,
    stopSignal: 'SIGTERM',
    stage: 'app',
    guardian: spec.guardian,
    ...(spec.niceness === undefined ? {} : { niceness: spec.niceness }),
  });
  began(child);
  await waitUntilReady(child, () => isReady(spec.readyUrl), READY_SECONDS);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false; // it does not listen yet
  }
}
