import { join, resolve } from 'node:path';

/** The checkout that this runs from. */
export const ROOT = resolve(import.meta.dirname, '../../..');

/** The modules with a database each, in the order in which they start. */
export const MODULES = ['identity', 'core', 'loyalty', 'messaging', 'crm'] as const;
export type ModuleName = (typeof MODULES)[number];

/** Each of them an app of its own, and the gateway before them. */
export const APPS = [...MODULES, 'gateway'] as const;
export type AppName = (typeof APPS)[number];

/** What a process of an app does (`PROCESS_ROLE`). */
export type ProcessRole = 'all' | 'api' | 'worker';

/** One process of the platform. */
export interface AppProcess {
  /** As a person calls it, and its log. */
  readonly name: string;
  readonly app: AppName;
  readonly role: ProcessRole;
}

/** Core accepts events in one process and processes them in another, so that no 202 waits for what is processed. */
export const PROCESSES: readonly AppProcess[] = [
  ...APPS.map((app): AppProcess => ({ name: app, app, role: app === 'core' ? 'api' : 'all' })),
  { name: 'core-worker', app: 'core', role: 'worker' },
];

/** The program with a module's operators' commands. */
export const platformOf = (module: ModuleName): string => join(ROOT, 'apps', module, 'dist/platform.js');

export const mainOf = (app: AppName): string => join(ROOT, 'apps', app, 'dist/main.js');
