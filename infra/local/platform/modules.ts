import { join, resolve } from 'node:path';

/** The checkout that this runs from. */
export const ROOT = resolve(import.meta.dirname, '../../..');
/** What is expensive to fetch and not data: survives `--reset`. */
export const CACHE = join(ROOT, 'node_modules/.cache/customer-platform');

/** The modules with a database each, in the order in which they start. */
export const MODULES = ['identity', 'core', 'loyalty', 'messaging', 'crm'] as const;
export type ModuleName = (typeof MODULES)[number];

/** Each of them an app of its own, and the gateway before them. */
export const APPS = [...MODULES, 'gateway'] as const;
export type AppName = (typeof APPS)[number];

export const mainOf = (app: AppName): string => join(ROOT, 'apps', app, 'dist/main.js');
