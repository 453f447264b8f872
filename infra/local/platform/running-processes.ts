import type { Child } from '../services/child.ts';
import { endOrphan } from '../services/orphans.ts';
import type { DataFolder } from './data-folder.ts';

const FILE = 'processes.json';

interface Recorded {
  name: string;
  pid: number;
  /** A part of its command line, by which it is known again. */
  mark: string;
}

/** Writes down what runs, for a start after both this process and its guardian were killed. */
export function recordProcesses(data: DataFolder, running: ReadonlyMap<string, Child>): void {
  data.writeJson(
    FILE,
    [...running].map(([name, { pid, mark }]): Recorded => ({ name, pid, mark })),
  );
}

/** Ends what a former start has left behind. @returns the names. */
export async function endLeftovers(data: DataFolder): Promise<string[]> {
  const recorded = data.readJson<Recorded[]>(FILE) ?? [];
  const ended = await Promise.all(
    recorded.map(async ({ name, pid, mark }) => ((await endOrphan(pid, mark, 'SIGTERM')) ? name : undefined)),
  );
  data.writeJson(FILE, []);
  return ended.filter((name) => name !== undefined);
}
