import type { Tenant, Tenants } from './tenants.ts';

/** A way to lose a right (identity.md §8). */
export interface Loss {
  readonly name: string;
  /** Who loses it. */
  readonly of: 'machine' | 'user' | 'client' | 'impersonation';
  /** Resolves when the 2xx has been received; of a copy of a token, its refusal. */
  end(tenant: Tenant): Promise<unknown> | undefined;
}

const IDENTITY = '/v1/identity';

const machine = (name: string, end: Loss['end']): Loss => ({ name, of: 'machine', end });
const user = (name: string, end: Loss['end']): Loss => ({ name, of: 'user', end });
const client = (name: string, end: Loss['end']): Loss => ({ name, of: 'client', end });
const impersonation = (name: string, end: Loss['end']): Loss => ({ name, of: 'impersonation', end });

const emptied: Loss['end'] = ({ call, roleId }) =>
  call('PUT', `${IDENTITY}/roles/${roleId}/permissions`, { permissions: [] });
const roleDeleted: Loss['end'] = ({ call, roleId }) => call('DELETE', `${IDENTITY}/roles/${roleId}`);
const suspended: Loss['end'] = ({ above, organizationId }) =>
  above('PATCH', `${IDENTITY}/organizations/${organizationId}`, { status: 'suspended' });
const organizationDeleted: Loss['end'] = ({ above, organizationId }) =>
  above('DELETE', `${IDENTITY}/organizations/${organizationId}`);
const userSuspended: Loss['end'] = ({ call, userId }) =>
  call('PATCH', `${IDENTITY}/users/${userId}`, { status: 'suspended' });
const clientDeleted: Loss['end'] = ({ call, clientId }) =>
  call('DELETE', `${IDENTITY}/oauth-clients/${clientId}`);
const secretReplaced: Loss['end'] = ({ call, clientId }) =>
  call('PATCH', `${IDENTITY}/oauth-clients/${clientId}`, { rotate_secret: true });
const connectionOf = ({ connectionId }: Tenant): string => `${IDENTITY}/sso-connections/${connectionId}`;

/** Every way that there is. */
export const LOSSES: readonly Loss[] = [
  machine('key revoked', ({ call, keyId }) => call('DELETE', `${IDENTITY}/api-keys/${keyId}`)),
  machine('key rotated with 0', ({ call, keyId }) =>
    call('POST', `${IDENTITY}/api-keys/${keyId}/rotate`, { expires_in: 0 }),
  ),
  machine("permissions taken from the key's role", emptied),
  machine("key's role deleted", roleDeleted),
  machine("key's organization suspended", suspended),
  machine("key's organization deleted", organizationDeleted),
  user('session ended', ({ call, sessionId }) => call('DELETE', `${IDENTITY}/sessions/${sessionId}`)),
  user('membership deleted', ({ call, membershipId }) =>
    call('DELETE', `${IDENTITY}/memberships/${membershipId}`),
  ),
  user('role assignment deleted', ({ call, assignmentId }) =>
    call('DELETE', `${IDENTITY}/role-assignments/${assignmentId}`),
  ),
  user("permissions taken from the user's role", emptied),
  user("user's role deleted", roleDeleted),
  user('user suspended', userSuspended),
  user('user deleted', ({ call, userId }) => call('DELETE', `${IDENTITY}/users/${userId}`)),
  user("user's organization suspended", suspended),
  user("user's organization deleted", organizationDeleted),
  user("client of the user's session deleted", clientDeleted),
  user("secret of the session's client replaced", secretReplaced),
  user("copy of the session's refresh token used", ({ useCopy }) => useCopy?.()),
  user('SSO connection of the session switched off', (tenant) =>
    tenant.call('PATCH', connectionOf(tenant), { status: 'inactive' }),
  ),
  user('SSO connection of the session deleted', (tenant) => tenant.call('DELETE', connectionOf(tenant))),
  client('client deleted', clientDeleted),
  client("client's secret replaced", secretReplaced),
  client("permissions taken from the client's role", emptied),
  client("client's role deleted", roleDeleted),
  client("client's organization suspended", suspended),
  client("client's organization deleted", organizationDeleted),
  impersonation('impersonation ended', ({ call, impersonationId }) =>
    call('DELETE', `${IDENTITY}/impersonations/${impersonationId}`),
  ),
  impersonation("impersonator's session ended", ({ call, sessionId }) =>
    call('DELETE', `${IDENTITY}/sessions/${sessionId}`),
  ),
  impersonation("impersonator's membership deleted", ({ call, membershipId }) =>
    call('DELETE', `${IDENTITY}/memberships/${membershipId}`),
  ),
  impersonation('leave to impersonate taken', emptied),
  impersonation('impersonated user suspended', userSuspended),
];

/** A tenant that has something to lose. */
export function tenantFor(loss: Loss, tenants: Tenants): Promise<Tenant> {
  if (loss.of === 'client') return tenants.withClient();
  if (loss.of === 'impersonation') return tenants.withImpersonation();
  return loss.of === 'machine' ? tenants.withMachine() : tenants.withUser();
}
