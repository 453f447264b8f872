import { UnknownCredential } from '@customer-platform/authorization';
import { Clock } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { Tenants } from './tenants.js';

/** Of these organizations it is known to which tenant they belong; every other one is a tenant of its own. */
export async function tenantsOf(known: Readonly<Record<string, string>> = {}): Promise<Tenants> {
  const registry = {
    resolveTenant: ({ organization_id: id }: { organization_id: string }) => {
      const tenant = known[id];
      if (tenant === undefined) return Promise.reject(new UnknownCredential('unknown'));
      return Promise.resolve({
        principal: { type: 'organization' as const, id },
        actor: { type: 'organization', id },
        organization: { id, status: 'active' as const, settings: {}, tenant_id: tenant },
        permissions: [],
        restriction: null,
        epoch: 1,
        expires_in_ms: null,
      });
    },
  };
  const tenants = new Tenants(registry, new Clock());
  await eventually(() => {
    for (const [id, tenant] of Object.entries(known)) expect(tenants.of(id)).toBe(tenant);
  });
  return tenants;
}
