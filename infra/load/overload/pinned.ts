import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { descendantsOf, starterOf } from '@customer-platform/kit/processes.ts';

/** The processor that the platform has to itself, and the one that k6 has. */
const PLATFORM = '0';
const K6 = '1';

/** A platform whose processes all run on one processor. */
export interface Pinned {
  /** The command before k6 that gives it the other one. */
  readonly prefix: readonly string[];
  /** Lets them run anywhere again. */
  release(): void;
}

/**
 * Gives the processes of a running platform, and what they start, one processor together.
 * @throws Error where there is only one, or no `taskset`
 */
export function pinned(baseUrl: string): Pinned {
  if (availableParallelism() < 2)
    throw new Error('Two processors are needed: the platform has one, k6 the other.');
  const starter = starterOf(baseUrl);
  const give = (processors: string): void => {
    for (const { pid } of descendantsOf(starter)) onto(pid, processors);
  };
  give(PLATFORM);
  return { prefix: ['taskset', '-c', K6], release: () => give(`0-${availableParallelism() - 1}`) };
}

/** All of a process's threads. One that has ended meanwhile is none of ours. */
function onto(pid: number, processors: string): void {
  try {
    execFileSync('taskset', ['-apc', processors, String(pid)], { stdio: 'ignore' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('taskset is needed; it is in the package util-linux.', { cause: error });
  }
}
