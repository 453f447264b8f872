import { corePermissions } from './core.permissions.js';
import { crmPermissions } from './crm.permissions.js';
import { identityPermissions } from './identity.permissions.js';
import { loyaltyPermissions } from './loyalty.permissions.js';
import { messagingPermissions } from './messaging.permissions.js';

const descriptions = {
  ...corePermissions,
  ...crmPermissions,
  ...identityPermissions,
  ...loyaltyPermissions,
  ...messagingPermissions,
};

/** One permission of the platform, `<module>.<resource>.<action>`. A misspelt one does not compile. */
export type Permission = keyof typeof descriptions;

/** Every permission there is, by module, in alphabetical order. The registry is part of the build. */
export const PERMISSIONS = Object.freeze(Object.keys(descriptions)) as readonly Permission[];

/** A permission with its parts and what it lets its holder do, as `GET /v1/identity/permissions` shows it. */
export interface PermissionDescriptor {
  readonly permission: Permission;
  readonly module: string;
  readonly resource: string;
  readonly action: string;
  readonly description: string;
}

const known: ReadonlySet<string> = new Set(PERMISSIONS);

/** Whether `text` is a permission of this build. */
export function isPermission(text: string): text is Permission {
  return known.has(text);
}

/** Every permission with its parts, in the order of {@link PERMISSIONS}. */
export function permissionDescriptors(): PermissionDescriptor[] {
  return PERMISSIONS.map((permission) => {
    const [module = '', resource = '', action = ''] = permission.split('.');
    return { permission, module, resource, action, description: descriptions[permission] };
  });
}
