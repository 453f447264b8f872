import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { ACCESS_TOKEN_AUDIENCE, ACCESS_TOKEN_TYPE, AccessTokens } from './access-tokens.js';
import { FixtureClock, FixtureRegistry } from './registry.fixture.js';

const ISSUER = 'https://platform.example';
const claims = { org_id: randomUUID(), sid: randomUUID() };
const subject = randomUUID();

interface Signer {
  kid: string;
  privateKey: CryptoKey;
}

async function aSigner(registry?: FixtureRegistry): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const kid = randomUUID();
  registry?.keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' });
  return { kid, privateKey };
}

interface Shape {
  payload?: JWTPayload;
  typ?: string;
  issuer?: string;
  audience?: string;
  ends?: string;
}

function aToken({ kid, privateKey }: Signer, shape: Shape = {}): Promise<string> {
  return new SignJWT(shape.payload ?? claims)
    .setProtectedHeader({ alg: 'ES256', kid, typ: shape.typ ?? ACCESS_TOKEN_TYPE })
    .setIssuer(shape.issuer ?? ISSUER)
    .setAudience(shape.audience ?? ACCESS_TOKEN_AUDIENCE)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(shape.ends ?? '5 minutes')
    .sign(privateKey);
}

async function aVerifier() {
  const registry = new FixtureRegistry();
  const signer = await aSigner(registry);
  const clock = new FixtureClock();
  const tokens = new AccessTokens(registry, ISSUER, clock);
  const codeOf = async (token: string): Promise<string> => {
    try {
      await tokens.verify(token);
      return 'valid';
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    }
  };
  return { registry, signer, clock, tokens, codeOf };
}

describe('an access token', () => {
  it('says who, where and in which session', async () => {
    const { tokens, signer } = await aVerifier();
    expect(await tokens.verify(await aToken(signer))).toEqual({
      session: { organization_id: claims.org_id, session_id: claims.sid, user_id: subject },
    });
  });

  it('that was verified is known again until it ends, or its key is taken away', async () => {
    const { tokens, signer, registry, clock, codeOf } = await aVerifier();
    const token = await aToken(signer);
    const [first, second] = [await tokens.verify(token), await tokens.verify(token)];
    expect(second).toBe(first);
    // One of another signature is another token.
    expect(await codeOf(`${token.slice(0, -8)}AAAAAAAA`)).toBe('invalid_token');
    jest.useFakeTimers({
      now: Date.now() + 306_000,
      doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'],
    });
    expect(await codeOf(token)).toBe('token_expired');
    jest.useRealTimers();
    expect(await codeOf(token)).toBe('valid');
    registry.keys.splice(0);
    clock.pass(300_001);
    expect(await codeOf(token)).toBe('invalid_token');
  });

  it('is remembered beside 10,000 others, and verified again beside more', async () => {
    const { tokens, signer } = await aVerifier();
    const token = await aToken(signer);
    const first = await tokens.verify(token);
    for (let number = 0; number < 10_000; number += 1)
      await tokens.verify(await aToken(signer, { payload: { ...claims, number } }));
    const again = await tokens.verify(token);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  }, 60_000);

  it('of a client says which, and by which generation of its secret', async () => {
    const { tokens, signer } = await aVerifier();
    const token = await aToken(signer, { payload: { ...claims, client_id: subject } });
    expect(await tokens.verify(token)).toEqual({
      client: { organization_id: claims.org_id, client_id: subject, client_generation: claims.sid },
    });
  });

  it.each<[string, Shape]>([
    ['of another issuer', { issuer: 'https://elsewhere.example' }],
    ['for another audience', { audience: 'member-api' }],
    ['of another type', { typ: 'JWT' }],
    ['without a session', { payload: { org_id: claims.org_id } }],
    ['with a session that is no id', { payload: { ...claims, sid: '1' } }],
  ])('is refused %s', async (_, shape) => {
    const { codeOf, signer } = await aVerifier();
    expect(await codeOf(await aToken(signer, shape))).toBe('invalid_token');
  });

  it('is refused altered, unsigned, or signed by another under a known id', async () => {
    const { codeOf, signer } = await aVerifier();
    const token = await aToken(signer);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const other = Buffer.from(JSON.stringify({ ...claims, sub: randomUUID() })).toString('base64url');
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: signer.kid })).toString('base64url');
    const stranger = await aToken({ ...(await aSigner()), kid: signer.kid });
    for (const forged of [`${header}.${other}.${signature}`, `${none}.${payload}.`, stranger, 'a.b.c', 'x'])
      expect(await codeOf(forged)).toBe('invalid_token');
  });

  it('is expired after its end', async () => {
    const { codeOf, signer } = await aVerifier();
    expect(await codeOf(await aToken(signer, { ends: '-1 minute' }))).toBe('token_expired');
  });
});

describe('the keys that verify', () => {
  it('are read once; for an unknown one again, but not for each of a flood', async () => {
    const { registry, codeOf, signer, clock } = await aVerifier();
    const token = await aToken(signer);
    for (let times = 0; times < 3; times += 1) expect(await codeOf(token)).toBe('valid');
    expect(registry.keyReads).toBe(1);
    const unknown = await aToken(await aSigner());
    for (let times = 0; times < 5; times += 1) expect(await codeOf(unknown)).toBe('invalid_token');
    expect(registry.keyReads).toBe(1);
    const next = await aSigner(registry);
    clock.pass(5_001);
    expect(await codeOf(await aToken(next))).toBe('valid');
    expect(registry.keyReads).toBe(2);
  });

  it('go on verifying while the registry is away; one that was never seen is 503 then', async () => {
    const { registry, codeOf, signer, clock } = await aVerifier();
    const token = await aToken(signer);
    expect(await codeOf(token)).toBe('valid');
    registry.down = true;
    clock.pass(7_200_000);
    expect(await codeOf(token)).toBe('valid');
    expect(await codeOf(await aToken(await aSigner()))).toBe('authorization_unavailable');
  });

  it('are not asked for by each of a flood of unknown ones while the registry is away', async () => {
    const { registry, codeOf, clock } = await aVerifier();
    registry.down = true;
    const unknown = await aToken(await aSigner());
    for (let times = 0; times < 5; times += 1)
      expect(await codeOf(unknown)).toBe('authorization_unavailable');
    expect(registry.keyReads).toBe(1);
    clock.pass(1_000);
    expect(await codeOf(unknown)).toBe('authorization_unavailable');
    expect(registry.keyReads).toBe(2);
  });

  it('verify nothing five minutes after they were taken away, and are renewed before that unnoticed', async () => {
    const { registry, codeOf, signer, clock } = await aVerifier();
    const token = await aToken(signer);
    expect(await codeOf(token)).toBe('valid');
    clock.pass(240_000);
    expect(await codeOf(token)).toBe('valid');
    expect(registry.keyReads).toBe(2);
    registry.keys.length = 0;
    clock.pass(300_000);
    expect(await codeOf(token)).toBe('invalid_token');
  });
});
