/**
 * The map of the front door: which module answers which prefix (service.md, "What the service does").
 * A prefix that is not here does not exist, and `/internal/*` is on nobody's list.
 */
export const MODULES = ['core', 'crm', 'identity', 'messaging', 'loyalty'] as const;
export type ModuleName = (typeof MODULES)[number];

const PREFIXES: readonly (readonly [prefix: string, module: ModuleName])[] = [
  ['/v1/core', 'core'],
  ['/v1/messaging', 'messaging'],
  ['/v1/loyalty', 'loyalty'],
  ['/v1/crm', 'crm'],
  ['/v1/identity', 'identity'],
  ['/oauth', 'identity'],
  ['/.well-known', 'identity'],
];

/** What the Console's server answers. */
export const CONSOLE = '/console/';

/** Addresses that people were given, and where they are now; a browser keeps the fragment. */
export const MOVED: Readonly<Record<string, string>> = {
  '/console': CONSOLE,
  // What mails of the releases before link to.
  '/invitations/accept': '/console/invitation',
};

/** The module that owns `path` (without its query), or undefined where no module does. */
export function moduleOf(path: string): ModuleName | undefined {
  for (const [prefix, module] of PREFIXES) {
    if (path.startsWith(prefix) && path.charCodeAt(prefix.length) === SLASH) return module;
  }
  return undefined;
}

/** Whether an answer lasts as long as its reader wants: it is told apart before it is asked for. */
export function lasts(path: string): boolean {
  return path === '/v1/core/events/stream';
}

/** How long a caller may take in all, in milliseconds; undefined where only a least rate is asked of it. */
interface Pace {
  readonly bodyMs: number | undefined;
  readonly answerMs: number | undefined;
}

const EVENTS: Pace = { bodyMs: 15_000, answerMs: 30_000 };
const ORDINARY: Pace = { bodyMs: 60_000, answerMs: 120_000 };
const WITHOUT_END: Pace = { bodyMs: undefined, answerMs: undefined };

/** Files go through these, of any size: imports and what is wrong in them, archives of a person. */
const FILES = ['/v1/core/imports', '/v1/core/subject-requests/'];

/** The pace of a target: of a class of routes each. */
export function paceOf(target: string): Pace {
  if (/^\/v1\/core\/(?:track|identify|batch)(?:$|\?)/.test(target)) return EVENTS;
  const path = target.split('?', 1)[0] ?? '';
  return lasts(path) || FILES.some((files) => path.startsWith(files)) ? WITHOUT_END : ORDINARY;
}

const SLASH = 0x2f;
