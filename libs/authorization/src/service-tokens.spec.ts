import { generateKeyPairSync } from 'node:crypto';
import { importJWK, SignJWT, type CryptoKey, type JWK } from 'jose';
import { Problem } from '@customer-platform/problem-json';
import { ServiceTokens, type ServiceKeys } from './service-tokens.js';

function aPair(kid: string): { own: JWK; open: JWK } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    own: { ...privateKey.export({ format: 'jwk' }), kid },
    open: { ...publicKey.export({ format: 'jwk' }), kid },
  };
}

const [core, identity] = [aPair('core'), aPair('identity')];
const keysOf = (own: JWK): ServiceKeys =>
  ({ SERVICE_PRIVATE_KEY: own, SERVICE_PUBLIC_KEYS: { keys: [core.open, identity.open] } }) as ServiceKeys;

const setOf = (own: JWK, keys: JWK[]): ServiceKeys =>
  ({ SERVICE_PRIVATE_KEY: own, SERVICE_PUBLIC_KEYS: { keys } }) as ServiceKeys;

let now = Date.parse('2026-11-21T10:00:00.000Z');
const atCore = () => new ServiceTokens('core', keysOf(core.own), () => now);
const atIdentity = () => new ServiceTokens('identity', keysOf(identity.own), () => now);

async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => 'taken',
    (thrown: unknown) => thrown,
  );
  return error instanceof Problem ? error.code : String(error);
}

async function signed(claims: Record<string, unknown>, by = core.own, header: Record<string, unknown> = {}) {
  const key = (await importJWK(by, 'EdDSA')) as CryptoKey;
  return `Bearer ${await new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: by.kid ?? '', ...header })
    .sign(key)}`;
}

const ROUTE = { method: 'POST', path: '/internal/authz/resolve' };

const seconds = () => Math.floor(now / 1_000);
const claims = (changes: Record<string, unknown> = {}) => ({
  iss: 'core',
  aud: 'identity',
  iat: seconds(),
  exp: seconds() + 60,
  ...changes,
});

describe('a service token', () => {
  it('tells the callee which module calls', async () => {
    const token = await atCore().issue('identity', ROUTE);
    expect(await atIdentity().verify(`Bearer ${token}`, ROUTE)).toBe('core');
  });

  it('is used again for most of its life and replaced before its end', async () => {
    const tokens = atCore();
    const first = await tokens.issue('identity', ROUTE);
    now += 40_000;
    expect(await tokens.issue('identity', ROUTE)).toBe(first);
    expect(await tokens.issue('crm', ROUTE)).not.toBe(first);
    expect(await tokens.issue('identity', { ...ROUTE, method: 'GET' })).not.toBe(first);
    now += 10_000;
    const second = await tokens.issue('identity', ROUTE);
    expect(second).not.toBe(first);
    expect(await atIdentity().verify(`Bearer ${second}`, ROUTE)).toBe('core');
  });

  it('ends, also where it was verified before', async () => {
    const callee = atIdentity();
    const token = await atCore().issue('identity', ROUTE);
    await callee.verify(`Bearer ${token}`, ROUTE);
    now += 66_000;
    expect(await refusal(callee.verify(`Bearer ${token}`, ROUTE))).toBe('token_expired');
  });

  it.each([
    ['for another callee', () => signed(claims({ aud: 'crm' }))],
    ['signed with another module’s key', () => signed(claims({ iss: 'crm' }))],
    ['signed with an unknown key', () => signed(claims(), aPair('core').own)],
    ['that lives longer than 60 s', () => signed(claims({ exp: seconds() + 61 }))],
    ['that begins later', () => signed(claims({ iat: seconds() + 600, exp: seconds() + 660 }))],
    ['without an end', () => signed(claims({ exp: undefined }))],
    ['without a beginning', () => signed(claims({ iat: undefined }))],
    ['unsigned', () => Promise.resolve('Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJjb3JlIn0.')],
    ['that is none', () => Promise.resolve('Bearer nonsense')],
  ])('%s is refused', async (_, make) => {
    expect(await refusal(atIdentity().verify(await make(), ROUTE))).toBe('invalid_token');
  });

  it('of a module is accepted by each of its published keys, and by none that was taken away', async () => {
    const second = aPair('core-2');
    const callee = (...open: JWK[]) => new ServiceTokens('identity', setOf(identity.own, open), () => now);
    const caller = (own: JWK) => new ServiceTokens('core', setOf(own, []), () => now);
    const before = await caller(core.own).issue('identity', ROUTE);
    const after = await caller(second.own).issue('identity', ROUTE);
    // Published, then signed with, then the former taken away: at no step is a token refused.
    const published = callee(core.open, second.open);
    for (const token of [before, after])
      expect(await published.verify(`Bearer ${token}`, ROUTE)).toBe('core');
    const alone = callee(second.open);
    expect(await alone.verify(`Bearer ${after}`, ROUTE)).toBe('core');
    expect(await refusal(alone.verify(`Bearer ${before}`, ROUTE))).toBe('invalid_token');
  });

  it.each(['core2', 'crm-2', 'core-0', 'core-', 'core-2-3', 'Core-2'])(
    'of core signed by a key called %s is refused',
    async (kid) => {
      const stray = aPair(kid);
      const callee = new ServiceTokens('identity', setOf(identity.own, [stray.open]), () => now);
      expect(await refusal(callee.verify(await signed(claims(), stray.own), ROUTE))).toBe('invalid_token');
    },
  );

  it('that was seen on the wire asks again what it asked, and nothing else', async () => {
    const callee = atIdentity();
    const seen = `Bearer ${await atCore().issue('identity', { ...ROUTE, path: `${ROUTE.path}?since=1` })}`;
    expect(await callee.verify(seen, ROUTE)).toBe('core');
    expect(await callee.verify(seen, { ...ROUTE, path: `${ROUTE.path}?since=2` })).toBe('core');
    for (const other of [
      { ...ROUTE, method: 'GET' },
      { ...ROUTE, path: '/internal/links/password_reset/0198f000-0000-7000-8000-000000000001' },
      { ...ROUTE, path: `${ROUTE.path}/` },
    ])
      expect(await refusal(callee.verify(seen, other))).toBe('invalid_token');
  });

  it('of an instance of the release before, which binds none, is taken while both are there', async () => {
    expect(await atIdentity().verify(await signed(claims()), ROUTE)).toBe('core');
  });

  it('that names half a route is refused', async () => {
    for (const half of [{ htm: ROUTE.method }, { htu: ROUTE.path }, { htm: 1, htu: ROUTE.path }])
      expect(await refusal(atIdentity().verify(await signed(claims(half)), ROUTE))).toBe('invalid_token');
  });

  it('is missed when there is none', async () => {
    expect(await refusal(atIdentity().verify(undefined, ROUTE))).toBe('missing_credentials');
    expect(await refusal(atIdentity().verify('Basic abc', ROUTE))).toBe('missing_credentials');
  });
});
