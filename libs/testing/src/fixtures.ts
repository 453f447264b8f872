import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import type { OrganizationSnapshot, RequestContext } from '@customer-platform/http';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';

/** A fresh organization; every test makes its own, so that tests never meet. */
export function anOrganization(overrides: Partial<OrganizationSnapshot> = {}): OrganizationSnapshot {
  return {
    id: newId(),
    status: 'active',
    settings: { timezone: 'America/Santiago', locale: 'es-CL' },
    ...overrides,
  };
}

/** What a request context can be told. */
interface ContextOverrides extends Partial<Omit<RequestContext, 'permissions' | 'can'>> {
  permissions?: readonly Permission[];
}

/** A request's context for tests of services: an API key with every permission unless told otherwise. */
export function aContext(overrides: ContextOverrides = {}): RequestContext {
  const organization = overrides.organization ?? anOrganization();
  const keyId = newId();
  const permissions = new Set<Permission>(overrides.permissions ?? PERMISSIONS);
  return {
    organizationId: organization.id,
    organization,
    principal: { type: 'api_key', id: keyId },
    actor: { type: 'api_key', id: keyId },
    correlationId: randomUUID(),
    authorization: undefined,
    ...overrides,
    permissions,
    can: (permission) => permissions.has(permission),
  };
}
