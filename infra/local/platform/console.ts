import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './modules.ts';

/** What the build makes of the Console: its pages, and who serves them. */
const BUILT = join(ROOT, 'apps/console/dist');
const PAGES = join(BUILT, 'web');

interface Running {
  close(graceMs: number): Promise<void>;
}

/** Of the compiled server, what is used here. */
interface Server {
  readonly startConsole: (options: {
    host: string;
    port: number;
    files: unknown;
    release: string;
    issuer: string;
  }) => Promise<Running>;
}
interface Files {
  readonly readBuiltFiles: (folder: string) => unknown;
}

/** Whether there is something to serve. */
export const consoleIsBuilt = (): boolean =>
  existsSync(join(PAGES, 'index.html')) && existsSync(join(BUILT, 'main.js'));

/**
 * Serves the Console in this very process: a process of its own would be 45 MB for answering files from memory.
 * @returns how it ends
 */
export async function serveConsole(port: number, issuer: string): Promise<() => Promise<void>> {
  const { startConsole } = await load<Server>('console-server.js');
  const { readBuiltFiles } = await load<Files>('built-files.js');
  const files = readBuiltFiles(PAGES);
  const running = await startConsole({ host: '127.0.0.1', port, files, release: 'local', issuer });
  return () => running.close(1_000);
}

async function load<Exports>(file: string): Promise<Exports> {
  return (await import(pathToFileURL(join(BUILT, file)).href)) as Exports;
}
