import type { Platform } from './platform.ts';
import { type Process, environmentOf, readProcesses } from './processes.ts';

/** The processes of an app of this very platform, of several that may run on this machine: told by their database. */
export function processesOf(platform: Platform, app: string): Process[] {
  const database = platform.database_urls?.[app];
  if (database === undefined)
    throw new Error(`demo.json names no database of ${app}; start the platform anew.`);
  const { host, pathname } = new URL(database);
  return readProcesses().filter(({ pid, name }) => {
    const url = name.startsWith(app) ? environmentOf(pid)?.['DATABASE_URL'] : undefined;
    if (url === undefined) return false;
    const own = new URL(url);
    return own.host === host && own.pathname === pathname;
  });
}
