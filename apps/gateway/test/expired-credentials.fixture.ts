import { createPrivateKey, randomUUID, type JsonWebKey } from 'node:crypto';
import { KeySeal, placeOfSigningKey, sealOfSigningKeys } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import type { Module, PlatformUnderTest, Tenant } from '@customer-platform/testing';
import type { TOKENS } from './credential-classes.fixture.js';
import { obtainCredentials, signedJwt, tenantToken } from './credentials.fixture.js';

/** The classes that end: the link of a mail never does, and an accepted invitation is not past its time. */
type Ending = Exclude<keyof typeof TOKENS, 'signed_link' | 'accepted_invitation'>;

/** Further back than any clock is wrong and any token lives. */
const AGO_S = 86_400;

/** One credential of each class that has an end, by the scheme of its routes: past it, and right in all else. */
export async function obtainExpired(
  platform: PlatformUnderTest,
  tenant: Tenant,
): Promise<Readonly<Record<string, string> & Record<Ending, string>>> {
  const held = await obtainCredentials(platform, tenant);
  const { id, key } = await platform.keyWith(tenant, PERMISSIONS);
  // Nobody has presented them yet: no module remembers that they were good.
  const end = (table: string, which: string, value: string) =>
    platform.query(
      'identity',
      `UPDATE ${table} SET expires_at = now() - interval '1 d' WHERE ${which} = $1`,
      [value],
    );
  await end('api_keys', 'id', id);
  await end('invitations', 'organization_id', tenant.id);
  await end('password_resets', 'organization_id', tenant.id);
  return {
    api_key: key,
    user_token: await aDayAgo(platform, 'identity', held.userToken),
    member_token: await aDayAgo(platform, 'core', held.memberToken),
    tenant_token: await tenantToken(tenant, `member-${randomUUID()}`, AGO_S),
    invitation_token: held.invitationToken,
    reset_token: held.resetToken,
  };
}

/** The token as its module would have signed it a day ago. */
async function aDayAgo(platform: PlatformUnderTest, module: Module, token: string): Promise<string> {
  const [header, claims] = token
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);
  const kid = String(header?.['kid']);
  const [row] = await platform.query<{ purpose: string; sealed: string }>(
    module,
    'SELECT purpose, sealed_private_key AS sealed FROM signing_keys WHERE kid = $1',
    [kid],
  );
  const root = Buffer.from(platform.envOf(module)['ENCRYPTION_KEY'] ?? '', 'base64');
  const seal = new KeySeal(root, sealOfSigningKeys(module));
  const text = seal.open(placeOfSigningKey(row?.purpose ?? '', kid), row?.sealed ?? '');
  const key = createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' });
  const back = (name: string) => Number(claims?.[name]) - AGO_S;
  return signedJwt(header ?? {}, { ...claims, iat: back('iat'), exp: back('exp') }, key);
}
