import { randomUUID } from 'node:crypto';
import {
  eventually,
  type Answer,
  type Caller,
  type PlatformUnderTest,
  START_WITHIN_MS,
} from '@customer-platform/testing';
import { journeyPlatform } from './journey.fixture.js';
import { Secret, TOTP } from 'otpauth';

interface Listed<T> {
  data: T[];
}
interface Key {
  id: string;
  key: string;
}

const SETTLED = { within: 30_000 };
const PASSWORD = 'un paraguas verde bajo la lluvia';

describe('the walk of a new user, from the bootstrap to a revoked key', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await journeyPlatform();
  }, START_WITHIN_MS);

  it('invites, reads the mail, accepts, enrols, makes a role, issues, uses, rotates and revokes a key', async () => {
    const email = `${randomUUID()}@example.com`;
    const { link, token } = await invited(platform, email);
    const self = await accepted(platform, token);
    const secrets = await enrolled(self);
    const key = await issued(self);
    await sent(platform, self, key);
    const next = await rotated(platform, self, key);
    await revoked(platform, self, next);
    // Nobody who reads the logs learns what would open a door, nor whom it would let in.
    const { logs } = platform;
    expect(logs).toContain('"msg"');
    for (const secret of [PASSWORD, token, link, email, key.key, next.key, ...secrets])
      expect(logs).not.toContain(secret);
  });
});

/** The root's key invites an administrator; the mail is in the catcher. */
async function invited(platform: PlatformUnderTest, email: string): Promise<{ link: string; token: string }> {
  const owner = platform.as(platform.ownerKey);
  const roles = await eventually(async () => {
    const path = '/v1/identity/roles?built_in=true&kind=human&limit=200';
    const { status, body } = await owner.get<Listed<{ id: string; key: string | null }>>(path);
    expect(status).toBe(200);
    return body.data;
  }, SETTLED);
  const administrator = roles.find(({ key }) => key === 'owner')?.id;
  const invitation = await owner.post('/v1/identity/invitations', {
    email,
    role_ids: [administrator],
    locale: 'es',
  });
  expect(invitation.status).toBe(201);
  const mail = await eventually(async () => {
    const [found, ...more] = await platform.mailsTo(email);
    expect([found === undefined, more]).toEqual([false, []]);
    return found;
  }, SETTLED);
  expect(mail?.subject).toMatch(/^Te invitaron a /);
  const { text, html } = await platform.mail(mail?.id ?? '');
  const link = /http\S+#token=\S+/.exec(text)?.[0] ?? '';
  expect(html).toContain(`href="${link}"`);
  return { link, token: new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '' };
}

async function accepted(platform: PlatformUnderTest, token: string): Promise<Caller> {
  const accept = (body: object): Promise<Answer<{ status: string; access_token: string }>> =>
    platform.as().post('/v1/identity/invitations/accept', { token, ...body });
  const answer = await accept({ name: 'Violeta Parra', password: PASSWORD });
  expect([answer.status, answer.body.status]).toEqual([200, 'accepted']);
  expect((await accept({ name: 'Violeta Parra', password: PASSWORD })).status).toBe(401);
  const self = platform.as(answer.body.access_token);
  await eventually(async () => {
    const sessions = await self.get<Listed<{ current: boolean }>>('/v1/identity/sessions');
    expect(sessions.body.data?.map(({ current }) => current)).toEqual([true]);
  }, SETTLED);
  return self;
}

/** A second factor: what was shown once. */
async function enrolled(self: Caller): Promise<string[]> {
  const path = '/v1/identity/mfa';
  const { body } = await self.post<{ factor_id: string; secret: string }>(`${path}/enroll`, {
    type: 'totp',
    name: 'Phone',
  });
  const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
  const verified = await self.post<{ recovery_codes: string[] }>(`${path}/verify`, {
    factor_id: body.factor_id,
    code,
  });
  expect(verified.status).toBe(200);
  expect(verified.body.recovery_codes).toHaveLength(10);
  return [body.secret, ...verified.body.recovery_codes];
}

/** A key of a machine role that may send events and nothing else. */
async function issued(self: Caller): Promise<Key> {
  const role = await self.post<{ id: string }>('/v1/identity/roles', {
    name: 'Shop',
    kind: 'machine',
    permissions: ['core.events.write'],
  });
  expect(role.status).toBe(201);
  const key = await self.post<Key>('/v1/identity/api-keys', { name: 'Shop', role_id: role.body.id });
  expect(key.status).toBe(201);
  return key.body;
}

function track(
  platform: PlatformUnderTest,
  { key }: Key,
): Promise<Answer<{ event_id: string; code: string }>> {
  return platform.as(key).post('/v1/core/track', {
    event: 'visited',
    external_id: 'visitor-1',
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
  });
}

/** Grants and losses are everywhere within a second. */
function answers(platform: PlatformUnderTest, key: Key, status: number): Promise<string> {
  return eventually(async () => {
    const answer = await track(platform, key);
    expect(answer.status).toBe(status);
    return answer.body.event_id;
  }, SETTLED);
}

async function sent(platform: PlatformUnderTest, self: Caller, key: Key): Promise<void> {
  const id = await answers(platform, key, 202);
  await eventually(async () => {
    const { body } = await self.get<Listed<{ id: string }>>(`/v1/core/events?correlation_id=${id}`);
    expect(body.data?.map((event) => event.id)).toEqual([id]);
  }, SETTLED);
  const elsewhere = await platform.as(key.key).get<{ code: string }>('/v1/core/events');
  expect([elsewhere.status, elsewhere.body.code]).toEqual([403, 'permission_denied']);
}

async function rotated(platform: PlatformUnderTest, self: Caller, former: Key): Promise<Key> {
  const path = `/v1/identity/api-keys/${former.id}/rotate`;
  const { status, body } = await self.post<Key>(path, { expires_in: 0 });
  expect(status).toBe(200);
  await answers(platform, body, 202);
  await answers(platform, former, 401);
  return body;
}

async function revoked(platform: PlatformUnderTest, self: Caller, { id, key }: Key): Promise<void> {
  expect((await self.delete(`/v1/identity/api-keys/${id}`)).status).toBe(204);
  await answers(platform, { id, key }, 401);
}
