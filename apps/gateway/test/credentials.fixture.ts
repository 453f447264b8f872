import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import {
  Caller,
  eventually,
  peerModule,
  totpCode,
  type Answer,
  type PlatformUnderTest,
  type Tenant,
} from '@customer-platform/testing';

/** What a new person chooses; nobody but the person and identity ever sees it. */
export const PASSWORD = 'tres tristes tigres tragaban trigo';

const EXCHANGE = '/v1/core/members/token-exchange';
const TOKEN_TYPE = 'urn:customer-platform:token-type:external-id';
const GRANT = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: TOKEN_TYPE,
};

/** One credential of each class, each good for its own class of routes. */
export interface Credentials {
  readonly apiKey: string;
  readonly userToken: string;
  readonly memberToken: string;
  /** Of the organization, for one exchange. */
  readonly tenantToken: string;
  /** Of an invitation that is still pending. */
  readonly invitationToken: string;
  /** By which somebody may choose a new password. */
  readonly resetToken: string;
  /** The one that let the user in: dead by now. */
  readonly acceptedToken: string;
}

/** Gets one of each from the platform, by the ways in which their owners do. */
export async function obtainCredentials(platform: PlatformUnderTest, tenant: Tenant): Promise<Credentials> {
  const { token: acceptedToken } = await invite(platform, tenant);
  const accepted = await accept(platform, acceptedToken);
  const externalId = `member-${randomUUID()}`;
  await done(tenant.admin.post('/v1/core/contacts', { external_id: externalId }));
  const exchanged = await done<{ access_token: string }>(
    tenant.admin.post(EXCHANGE, { ...GRANT, subject_token: externalId }),
  );
  return {
    apiKey: tenant.adminKey,
    userToken: accepted.access_token,
    memberToken: exchanged.access_token,
    tenantToken: await tenantToken(tenant, externalId),
    invitationToken: (await invite(platform, tenant)).token,
    resetToken: await resetToken(platform, tenant),
    acceptedToken,
  };
}

function accept(platform: PlatformUnderTest, token: string): Promise<{ access_token: string }> {
  const body = { token, name: 'Ana Rojas', password: PASSWORD };
  return done(platform.as().post('/v1/identity/invitations/accept', body));
}

/** Somebody new forgets their password. @returns the token that the mail's link carries */
async function resetToken(platform: PlatformUnderTest, tenant: Tenant): Promise<string> {
  const { email, token } = await invite(platform, tenant);
  await accept(platform, token);
  await done(platform.as().post('/v1/identity/password-resets', { email }));
  const reset = `SELECT r.id FROM password_resets r JOIN users u ON u.id = r.user_id WHERE u.email = $1`;
  return eventually(async () => {
    const [row] = await platform.query<{ id: string }>('identity', reset, [email]);
    const path = `/internal/links/password_reset/${row?.id ?? ''}?organization_id=${tenant.id}`;
    const { link } = await done<{ link: string }>((await asMessaging(platform)).get(path));
    return new URL(link).searchParams.get('token') ?? '';
  });
}

/** Somebody new with a role, signed in. @returns an access token of theirs */
export async function newUser(platform: PlatformUnderTest, tenant: Tenant, role: string): Promise<string> {
  const { token } = await invite(platform, tenant, role);
  return (await accept(platform, token)).access_token;
}

/** An owner in a session with a second factor, who may act as others. */
export async function newSupporter(platform: PlatformUnderTest, tenant: Tenant): Promise<Caller> {
  const self = platform.as(await newUser(platform, tenant, 'owner'));
  const path = '/v1/identity/mfa';
  const factor = await eventually(() =>
    done<{ factor_id: string; secret: string }>(self.post(`${path}/enroll`, { type: 'totp', name: 'Phone' })),
  );
  await done(self.post(`${path}/verify`, { factor_id: factor.factor_id, code: totpCode(factor.secret) }));
  return self;
}

/** The id of a user who is signed in. */
export async function idOf(self: Caller): Promise<string> {
  const sessions = await eventually(() =>
    done<{ data: { user_id: string; current: boolean }[] }>(self.get('/v1/identity/sessions')),
  );
  return sessions.data.find(({ current }) => current)?.user_id ?? '';
}

/** Invites somebody. @returns the token that the mail's link carries */
async function invite(
  platform: PlatformUnderTest,
  { admin, id }: Tenant,
  role = 'analyst',
): Promise<{ email: string; token: string }> {
  const roles = await done<{ data: { id: string; key: string | null; kind: string }[] }>(
    admin.get('/v1/identity/roles?built_in=true&kind=human'),
  );
  const found = roles.data.find(({ key }) => key === role);
  const body = { email: `${randomUUID()}@example.com`, role_ids: [found?.id] };
  const invitation = await done<{ id: string }>(admin.post('/v1/identity/invitations', body));
  const path = `/internal/links/invitation/${invitation.id}?organization_id=${id}`;
  const { link } = await done<{ link: string }>((await asMessaging(platform)).get(path));
  return { email: body.email, token: new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '' };
}

/** Messaging, when it renders the mail. */
function asMessaging(platform: PlatformUnderTest): Promise<Caller> {
  return peerModule('messaging', 'identity', platform.internalUrlOf('identity'));
}

/** Signs one as an organization does, with a key that it has made known. @param issuedAgoS they end after 290 s */
export async function tenantToken(
  { admin, id }: Tenant,
  externalId: string,
  issuedAgoS = 0,
): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' };
  await done(admin.patch(`/v1/identity/organizations/${id}`, { settings: { member_jwks: { keys: [jwk] } } }));
  const now = Math.floor(Date.now() / 1_000) - issuedAgoS;
  const claims = { iss: id, aud: 'member-api', sub: externalId, jti: randomUUID(), iat: now, exp: now + 290 };
  return signedJwt({ alg: 'ES256', kid: jwk.kid }, claims, privateKey);
}

/** A JWT by ES256. */
export function signedJwt(header: object, claims: object, key: KeyObject): string {
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** The body of a call that succeeds. */
export async function done<T = object>(call: Promise<Answer<unknown>>): Promise<T> {
  const { status, body } = await call;
  if (status >= 200 && status < 300) return body as T;
  throw new Error(`The answer is ${String(status)}: ${JSON.stringify(body)}`);
}
