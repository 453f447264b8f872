import { environmentOf, readProcesses } from '@customer-platform/kit/processes.ts';

/**
 * Does some work while a module of the running platform hangs: its connections are taken and nothing is answered. The
 * processes go on afterwards, also when the work fails or this one is told to end.
 * @param databaseUrl of the platform's module, by which its processes are told from those of other platforms
 * @throws Error where no such process is found
 */
export async function whileHanging<T>(
  module: string,
  databaseUrl: string,
  work: () => Promise<T>,
): Promise<T> {
  const place = (url: string | undefined): string => (url === undefined ? '' : new URL(url).host);
  const pids = readProcesses()
    .filter(({ name }) => name === module)
    .map(({ pid }) => pid)
    .filter((pid) => place(environmentOf(pid)?.['DATABASE_URL']) === place(databaseUrl));
  if (pids.length === 0) throw new Error(`No process of ${module} of this platform runs on this machine.`);
  const goOn = (): void => pids.forEach((pid) => process.kill(pid, 'SIGCONT'));
  const end = (): void => {
    goOn();
    process.exit(1);
  };
  process.once('SIGTERM', end);
  try {
    pids.forEach((pid) => process.kill(pid, 'SIGSTOP'));
    return await work();
  } finally {
    goOn();
    process.off('SIGTERM', end);
  }
}
