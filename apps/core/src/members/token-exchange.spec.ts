import { newApiKey } from '@customer-platform/authorization';
import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually } from '@customer-platform/testing';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import {
  aMember,
  aMemberWorld,
  aSigner,
  byExternalId,
  byJwt,
  EXCHANGE,
  ME,
  postForm,
  type Exchanged,
  type MemberWorld,
  type Signer,
} from './member.fixture.js';

interface Refusal extends Record<string, unknown> {
  code: string;
  errors?: { pointer?: string; code: string }[];
}

let core: TestCore;
let world: MemberWorld;

beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());
beforeEach(async () => {
  world = await aMemberWorld(core);
});

const exchange = (body: Record<string, unknown>, key?: string) =>
  core.app.with(key).post<Exchanged>(EXCHANGE, body);

/** All that a refusal says but which request it was. */
function words({ status, body }: { status: number; body: Record<string, unknown> }): object {
  const { correlation_id: _request, ...rest } = body;
  return { status, ...rest };
}

/** Everything about a subject that is none sounds like this. */
const INVALID = {
  status: 400,
  type: '/problems/invalid_subject_token',
  title: 'Invalid subject token',
  detail: 'The subject token is invalid, or names nobody who can be given a member token.',
  instance: EXCHANGE,
  code: 'invalid_subject_token',
  error: 'invalid_request',
};

describe('POST /v1/core/members/token-exchange with an API key', () => {
  it('gives a member token for 15 minutes, which nobody may keep', async () => {
    const answer = await exchange(byExternalId(world.externalId), world.key);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { access_token: token, ...rest } = answer.body;
    expect(rest).toEqual({
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 900,
    });
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', kid: expect.any(String) as string });
    const { iat = 0, ...claims } = decodeJwt(token);
    expect(claims).toEqual({
      iss: 'http://127.0.0.1:8080',
      aud: 'member-api',
      sub: world.contactId,
      org_id: world.organizationId,
      act: { sub: world.keyId },
      jti: expect.any(String) as string,
      exp: iat + 900,
    });
    expect((await core.app.with(token).get(ME)).status).toBe(200);
  });

  it('takes a form as well, and the audience there is', async () => {
    const fields = byExternalId(world.externalId) as Record<string, string>;
    const answer = await postForm(core, { ...fields, audience: 'member-api' }, world.key);
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
  });

  it('refuses who is unknown, deleted, erased or another organization’s alike, and makes nobody', async () => {
    const other = await aMemberWorld(core);
    const [deleted, erased] = [
      await aMember(core, world.organizationId),
      await aMember(core, world.organizationId),
    ];
    const set = (column: string, id: string) =>
      core.database.query(`UPDATE contacts SET ${column} = now() WHERE id = $1`, [id]);
    await set('deleted_at', deleted.contactId);
    await set('erased_at', erased.contactId);
    const nobodies = [deleted.externalId, erased.externalId, other.externalId, `nobody-${newId()}`, 'null'];
    for (const nobody of nobodies)
      expect(words(await exchange(byExternalId(nobody), world.key))).toEqual(INVALID);
    const [{ count } = { count: '' }] = await core.database.query<{ count: string }>(
      'SELECT count(*) FROM contacts WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(count).toBe('3');
  });

  it('401 without a key and with one nobody has, before the form is looked at', async () => {
    expect(await exchange(byExternalId(world.externalId))).toMatchObject({
      status: 401,
      body: { code: 'missing_credentials' },
    });
    expect(await exchange({}, `cpk_live_${'0'.repeat(38)}`)).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
  });

  it('403 to a key with every permission but core.members.exchange, an ingestion key for one', async () => {
    const rest = PERMISSIONS.filter((name) => name !== 'core.members.exchange');
    const key = core.app.registry.key({ organizationId: world.organizationId, permissions: rest });
    expect(await exchange({}, key)).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', permission: 'core.members.exchange' },
    });
  });

  it('403 while the organization is suspended', async () => {
    const key = core.app.registry.key({
      organizationId: world.organizationId,
      permissions: ['core.members.exchange'],
      restriction: 'organization_suspended',
    });
    expect(await exchange(byExternalId(world.externalId), key)).toMatchObject({
      status: 403,
      body: { code: 'organization_suspended' },
    });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['another grant', { grant_type: 'password' }, 'invalid_enum', '/grant_type'],
    ['no grant', { grant_type: undefined }, 'required', '/grant_type'],
    ['no subject', { subject_token: undefined }, 'required', '/subject_token'],
    ['an empty subject', { subject_token: '' }, 'too_short', '/subject_token'],
    ['a kind of token that is none', { subject_token_type: 'jwt' }, 'invalid_enum', '/subject_token_type'],
    ['another audience', { audience: 'management-api' }, 'invalid_enum', '/audience'],
    ['an unknown field', { scope: 'all' }, 'unknown_field', '/scope'],
  ])('400 for %s', async (_, wrong, code, pointer) => {
    const body = { ...byExternalId(world.externalId), ...wrong };
    const answer = await core.app.with(world.key).post<Refusal>(EXCHANGE, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ code, pointer }] },
    });
  });

  it('400 for a key and a JWT at once, and 415 for what is neither JSON nor a form', async () => {
    const signer = await aSigner();
    const both = await exchange(byJwt(await signer.sign(world)), world.key);
    expect(words(both)).toEqual(INVALID);
    const text = await core.app
      .with(world.key)
      .post(EXCHANGE, byExternalId(world.externalId), { 'content-type': 'text/plain' });
    expect(text).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });
});

describe('POST /v1/core/members/token-exchange with a JWT of the organization', () => {
  let signer: Signer;
  beforeEach(async () => {
    signer = await aSigner();
    core.app.registry.organization(world.organizationId, {
      settings: { member_jwks: { keys: [signer.jwk] } },
    });
  });

  it.each(['ES256', 'RS256', 'EdDSA'])('gives a member token for one signed by %s', async (algorithm) => {
    const other = await aSigner(algorithm);
    core.app.registry.organization(world.organizationId, {
      settings: { member_jwks: { keys: [signer.jwk, other.jwk] } },
    });
    const answer = await exchange(byJwt(await other.sign(world)));
    expect(answer.status).toBe(200);
    expect(decodeJwt(answer.body.access_token)).toMatchObject({
      sub: world.contactId,
      org_id: world.organizationId,
      act: { sub: other.kid, jkt: other.thumbprint },
    });
    expect((await core.app.with(answer.body.access_token).get(ME)).status).toBe(200);
  });

  it('takes each token once, also by twenty at the same time', async () => {
    const token = await signer.sign(world);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(byJwt(token))));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(19);
    for (const answer of refused) expect(words(answer)).toEqual(INVALID);
    // Another organization may happen to use the same id for a token of its own.
    const other = await aMemberWorld(core);
    core.app.registry.organization(other.organizationId, {
      settings: { member_jwks: { keys: [signer.jwk] } },
    });
    const { jti } = decodeJwt(token);
    expect((await exchange(byJwt(await signer.sign(other, { jti })))).status).toBe(200);
  });

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;
  it.each<[string, (own: Signer) => Promise<string>]>([
    ['is no token', () => Promise.resolve('eyJhbGciOiJFUzI1NiJ9.e30.c2ln')],
    ['is text', () => Promise.resolve('hello')],
    ['names another issuer', (own) => own.sign(world, { iss: newId() })],
    ['names no organization', (own) => own.sign(world, { iss: 'acme' })],
    ['has no issuer', (own) => own.sign(world, { iss: undefined })],
    ['is for somebody else', (own) => own.sign(world, { aud: 'management-api' })],
    ['has no audience', (own) => own.sign(world, { aud: undefined })],
    ['has ended', (own) => own.sign(world, { exp: inSeconds(-30) })],
    ['lives longer than five minutes', (own) => own.sign(world, { exp: inSeconds(320) })],
    ['has no end', (own) => own.sign(world, { exp: undefined })],
    ['does not hold yet', (own) => own.sign(world, { nbf: inSeconds(60) })],
    ['has no jti', (own) => own.sign(world, { jti: undefined })],
    ['has a jti that is no text', (own) => own.sign(world, { jti: 7 })],
    ['has no subject', (own) => own.sign(world, { sub: undefined })],
    ['is about nobody', (own) => own.sign(world, { sub: `nobody-${newId()}` })],
    ['is about a text that cannot be stored', (own) => own.sign(world, { sub: 'somebody\u0000' })],
    ['names no key', (own) => own.sign(world, {}, { kid: undefined })],
    ['names another key', (own) => own.sign(world, {}, { kid: newId() })],
    [
      'is signed by another key of the same name',
      async (own) => (await aSigner('ES256', own.kid)).sign(world),
    ],
    [
      'is signed by an algorithm the key is not for',
      async (own) => (await aSigner('EdDSA', own.kid)).sign(world),
    ],
    [
      'takes the public key for a secret',
      (own) =>
        new SignJWT({ iss: world.organizationId, aud: 'member-api', sub: world.externalId, jti: newId() })
          .setProtectedHeader({ alg: 'HS256', kid: own.kid })
          .setExpirationTime(inSeconds(60))
          .sign(Buffer.from(JSON.stringify(own.jwk))),
    ],
    [
      'is not signed at all',
      async (own) => {
        const [, payload = ''] = (await own.sign(world)).split('.');
        const header = Buffer.from(JSON.stringify({ alg: 'none', kid: own.kid })).toString('base64url');
        return `${header}.${payload}.`;
      },
    ],
  ])('400, as for any other, for one that %s', async (_, token) => {
    expect(words(await exchange(byJwt(await token(signer))))).toEqual(INVALID);
  });

  it('tells nobody but who holds the key that the organization is suspended', async () => {
    const settings = { member_jwks: { keys: [signer.jwk] } };
    core.app.registry.organization(world.organizationId, { settings, suspended: true });
    expect(await exchange(byJwt(await signer.sign(world)))).toMatchObject({
      status: 403,
      body: { code: 'organization_suspended' },
    });
    const stranger = await aSigner('ES256', signer.kid);
    expect(words(await exchange(byJwt(await stranger.sign(world))))).toEqual(INVALID);
  });

  it('forgets used tokens once they would have ended', async () => {
    await core.database.query(
      `INSERT INTO member_assertions (organization_id, jti_hash, expires_at)
       SELECT $1, int4send(n), now() - interval '1 minute' FROM generate_series(1, 5) AS n`,
      [world.organizationId],
    );
    expect((await exchange(byJwt(await signer.sign(world)))).status).toBe(200);
    const left = await core.database.query('SELECT 1 FROM member_assertions WHERE organization_id = $1', [
      world.organizationId,
    ]);
    expect(left).toHaveLength(1);
  });
});

// Last, for what it uses up is that of all tests here.
describe('POST /v1/core/members/token-exchange with keys that nobody has', () => {
  it('counts them against their network', async () => {
    await eventually(async () => {
      const asked = Array.from({ length: 100 }, () => exchange(byExternalId('nobody'), newApiKey()));
      expect((await Promise.all(asked)).map(({ status }) => status)).toContain(429);
    });
  });
});
