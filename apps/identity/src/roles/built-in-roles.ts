import { PERMISSIONS, permissionDescriptors, type Permission } from '@customer-platform/permissions';

/** Whether members or machines hold a role. */
export type RoleKind = 'human' | 'machine';

/** A role that every organization has and nobody can change (identity.md §4). */
interface BuiltInRole {
  readonly key: 'owner' | 'admin' | 'editor' | 'analyst' | 'ingest' | 'sender';
  readonly kind: RoleKind;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly Permission[];
}

const descriptors = permissionDescriptors();
const OWN_ACCOUNT: readonly Permission[] = [
  'identity.account.manage',
  'identity.account.read',
  'identity.mfa.manage',
  'identity.mfa.read',
  'identity.sessions.read',
  'identity.sessions.revoke',
];
const NOT_FOR_ADMINS: ReadonlySet<Permission> = new Set<Permission>([
  'identity.organizations.create',
  'identity.organizations.delete',
  'identity.impersonation.start',
  'identity.impersonation.stop',
  'core.contacts.read_national_id',
]);

const admin = descriptors
  .filter(({ permission, action }) => action !== 'purge' && !NOT_FOR_ADMINS.has(permission))
  .map(({ permission }) => permission);

const editor = descriptors
  .filter(({ permission, module, action }) => {
    return module !== 'identity' && action !== 'delete' && admin.includes(permission);
  })
  .map(({ permission }) => permission);

const analyst = descriptors
  .filter(({ module, resource, action }) => {
    return module !== 'identity' && action === 'read' && !(module === 'core' && resource === 'audit');
  })
  .map(({ permission }) => permission);

/** The built-in roles with what the registry of this build gives them. */
export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  {
    key: 'owner',
    kind: 'human',
    name: 'Owner',
    description: 'Everything. An organization that has an owner keeps one.',
    permissions: PERMISSIONS,
  },
  {
    key: 'owner',
    kind: 'machine',
    name: 'Owner (machine)',
    description: 'Everything, for automation that administers the organization.',
    permissions: PERMISSIONS,
  },
  {
    key: 'admin',
    kind: 'human',
    name: 'Administrator',
    description:
      'Everything but purging, founding and deleting organizations, acting as others, full national ids.',
    permissions: admin,
  },
  {
    key: 'editor',
    kind: 'human',
    name: 'Editor',
    description: 'Works with the data of all modules; deletes nothing and administers nobody.',
    permissions: [...editor, ...OWN_ACCOUNT],
  },
  {
    key: 'analyst',
    kind: 'human',
    name: 'Analyst',
    description: 'Reads the data of all modules, the audit log excepted.',
    permissions: [...analyst, ...OWN_ACCOUNT],
  },
  {
    key: 'ingest',
    kind: 'machine',
    name: 'Ingestion',
    description: 'Sends events and contacts.',
    permissions: ['core.contacts.write', 'core.events.write'],
  },
  {
    key: 'sender',
    kind: 'machine',
    name: 'Sender',
    description: 'Requests sends.',
    permissions: ['messaging.sends.create'],
  },
];
