import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { IForbiddenRuleType } from 'dependency-cruiser';

/** The rooms of an app: the folders of its `src`. */
export interface House {
  /** Rooms from the top to the ground: each may import those after it, and none before. */
  readonly rooms: readonly string[];
  /** Set where rooms are entered by their doors alone. */
  readonly hasDoors: boolean;
  /** Sets of rooms none of which imports another of its set, whatever their order. */
  readonly apart?: readonly (readonly string[])[];
  /** Programs of their own, of an operator: like the app's root they put together what they need of rooms. */
  readonly commands?: readonly string[];
}

/** The apps that declare the order of their rooms. */
export const HOUSES: Readonly<Record<string, House>> = {
  console: {
    rooms: [
      'shell',
      'navigation',
      'invitation',
      'organization',
      'audit',
      'attributes',
      'privacy',
      'loyalty',
      'live-events',
      'imports',
      'lists',
      'home',
      'developers',
      'taxonomies',
      'contacts',
      'sender-domains',
      'deliverability',
      'campaigns',
      'messages',
      'objects',
      'segments',
      'account',
      'routes',
      'actors',
      'people',
      'ui',
      'api',
      'session',
      'problems',
      'i18n',
    ],
    hasDoors: false,
  },
  core: {
    rooms: [
      'operator',
      'members',
      'subject-requests',
      'imports',
      'timeline',
      'attributes',
      'segments',
      'events',
      'dead-letters',
      'audit-log',
      'usage',
      'catalogs',
      'processing',
      'people',
      'ingestion',
      'taxonomies',
      'following',
      'blocklist',
      'downloads',
      'instances',
      'previews',
      'retention',
      'vocabulary',
      'migrations',
    ],
    hasDoors: true,
    commands: ['operator'],
  },
  identity: {
    rooms: [
      'operator',
      'permissions',
      'sign-in',
      'oauth',
      'pages',
      'oauth-clients',
      'account',
      'impersonations',
      'invitations',
      'password-resets',
      'sso-connections',
      'users',
      'mfa',
      'role-assignments',
      'memberships',
      'passwords',
      'authorization',
      'sessions',
      'organizations',
      'api-keys',
      'roles',
      'vocabulary',
      'migrations',
    ],
    hasDoors: true,
    commands: ['operator'],
  },
  messaging: {
    rooms: [
      'requests',
      'reports',
      'webhook-endpoints',
      'dispatch',
      'content',
      'people',
      'settings',
      'providers',
      'background',
      'vocabulary',
      'migrations',
    ],
    hasDoors: true,
    apart: [
      ['requests', 'reports', 'webhook-endpoints'],
      ['webhook-endpoints', 'dispatch'],
      ['content', 'people'],
    ],
  },
};

const workspace = join(import.meta.dirname, '../..');
const PROVIDED = /exports:\s*\[([^\]]*)\]/;
const IMPORTED = /import\s+\{([^}]*)\}\s+from\s+'(\.[^']+)\.js'/g;
/** The bodies that services take and answer are part of their interface. */
const BODIES = '\\.dto\\.ts$';

/**
 * The files of a room that others may import: its module, and those of the services that this exports, by itself or by
 * modules within the room. A room without a module has no door: all of it is open.
 */
export function doorOf(app: string, room: string): readonly string[] | undefined {
  const door = `apps/${app}/src/${room}/${room}.module.ts`;
  return existsSync(join(workspace, door)) ? [door, ...servicesOf(door)] : undefined;
}

function servicesOf(module: string): string[] {
  const text = readFileSync(join(workspace, module), 'utf8');
  const files = new Map<string, string>();
  for (const [, names = '', path = ''] of text.matchAll(IMPORTED))
    for (const name of names.split(','))
      files.set(name.trim(), posix.join(posix.dirname(module), `${path}.ts`));
  const exported = (PROVIDED.exec(text)?.[1] ?? '').split(',').map((name) => files.get(name.trim()) ?? '');
  return exported.flatMap((file) => {
    if (file === '') return [];
    return file.endsWith('.module.ts') ? servicesOf(file) : [file];
  });
}

/** The rules that hold each app to its rooms. @param tests paths that may import whatever they test */
export function roomRules(tests: string): IForbiddenRuleType[] {
  return Object.entries(HOUSES).flatMap(([app, house]) => [
    ...ordered(app, house, tests),
    ...(house.hasDoors ? closed(app, house, tests) : []),
    ...separate(app, house, tests),
    declared(app, house, tests),
  ]);
}

function ordered(app: string, { rooms }: House, tests: string): IForbiddenRuleType[] {
  return rooms.map((room, at) => ({
    name: 'rooms-import-downwards',
    comment:
      'Rooms that import each other cannot be understood one by one; their order is in infra/boundaries/rooms.ts.',
    severity: 'error',
    from: { path: `^apps/${app}/src/${room}/`, pathNot: tests },
    // The root is above them all.
    to: { path: [`^apps/${app}/src/[^/]+$`, ...oneOf(app, rooms.slice(0, at))] },
  }));
}

function closed(app: string, { rooms, commands = [] }: House, tests: string): IForbiddenRuleType[] {
  return rooms.flatMap((room) => {
    const door = doorOf(app, room);
    if (!door) return [];
    return {
      name: 'rooms-through-their-doors',
      comment: 'A room is its module and the services that this exports; the rest may change without asking.',
      severity: 'error' as const,
      from: { path: `^apps/${app}/src/(?!${room}/)[^/]+/`, pathNot: [tests, ...oneOf(app, commands)] },
      to: { path: `^apps/${app}/src/${room}/`, pathNot: [...door.map(exactly), BODIES] },
    };
  });
}

function separate(app: string, { apart = [] }: House, tests: string): IForbiddenRuleType[] {
  return apart.flatMap((rooms) =>
    rooms.map((room) => ({
      name: 'rooms-stand-apart',
      comment: 'Each of these rooms is understood, and changed, without the others; they meet below.',
      severity: 'error' as const,
      from: { path: `^apps/${app}/src/${room}/`, pathNot: tests },
      to: {
        path: oneOf(
          app,
          rooms.filter((other) => other !== room),
        ),
      },
    })),
  );
}

function declared(app: string, { rooms }: House, tests: string): IForbiddenRuleType {
  return {
    name: 'rooms-are-declared',
    comment: 'A new room has its place in the order.',
    severity: 'error',
    from: { path: `^apps/${app}/src/(?!(?:${rooms.join('|')})/)([^/]+)/`, pathNot: tests },
    to: { path: `^apps/${app}/src/`, pathNot: `^apps/${app}/src/$1/` },
  };
}

function oneOf(app: string, rooms: readonly string[]): string[] {
  return rooms.length === 0 ? [] : [`^apps/${app}/src/(?:${rooms.join('|')})/`];
}

function exactly(file: string): string {
  return `^${file.replaceAll('.', '\\.')}$`;
}
