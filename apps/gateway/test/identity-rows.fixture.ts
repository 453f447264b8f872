import { randomUUID } from 'node:crypto';
import type { PlatformUnderTest, Tenant } from '@customer-platform/testing';

/**
 * Leaves something of `tenant` in each of identity's collections.
 * @param made makes an item
 * @returns the id of an impersonation
 */
export async function fillIdentity(
  platform: PlatformUnderTest,
  tenant: Tenant,
  made: (path: string, body: object) => Promise<string>,
): Promise<string> {
  const user = await made('/v1/identity/users', { email: `${randomUUID()}@example.com`, name: 'Somebody' });
  const membership = await made('/v1/identity/memberships', { user_id: user });
  const role = await made('/v1/identity/roles', { name: 'Visitor', kind: 'human' });
  await made('/v1/identity/role-assignments', { membership_id: membership, role_id: role });
  await made('/v1/identity/oauth-clients', {
    name: 'Somebody’s app',
    type: 'public',
    redirect_uris: ['https://app.example/callback'],
  });
  await made('/v1/identity/sso-connections', {
    name: 'Elsewhere',
    protocol: 'oidc',
    issuer: 'https://idp.example.com',
    client_id: 'platform',
    client_secret: 'a-secret',
    domains: ['example.com'],
  });
  await made('/v1/identity/invitations', { email: `${randomUUID()}@example.com` });
  await platform.query(
    'identity',
    `INSERT INTO sessions (organization_id, id, user_id, amr, authenticated_at, last_seen_at, idle_expires_at,
       expires_at, created_at)
     VALUES ($1, $2, $3, '{pwd}', now(), now(), now() + interval '1 h', now() + interval '1 h', now())`,
    [tenant.id, randomUUID(), user],
  );
  const actor = await made('/v1/identity/users', { email: `${randomUUID()}@example.com`, name: 'Support' });
  const impersonation = randomUUID();
  await platform.query(
    'identity',
    `INSERT INTO impersonations (organization_id, id, actor_id, actor_session_id, user_id, reason, amr,
       authenticated_at, expires_at, created_at)
     VALUES ($1, $2, $3, $2, $4, 'Something is lost.', '{mfa}', now(), now() + interval '1 h', now() - interval '1 h')`,
    [tenant.id, impersonation, actor, user],
  );
  return impersonation;
}
