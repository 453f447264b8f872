import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  InternalPeer,
  startTestApp,
  testDatabase,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { IdentityModule } from '../identity.module.js';
import { migrations } from '../migrations/index.js';

let shown: unknown[] = [];
let core: InternalPeer;
let database: TestDatabase;
beforeAll(async () => {
  core = await InternalPeer.start({ 'GET /internal/members/keys': () => ({ keys: shown }) });
  database = await testDatabase('identity', migrations);
});
afterAll(async () => {
  await core.close();
  await database.drop();
});

const jwkOf = (key: KeyObject): JWK => key.export({ format: 'jwk' });
const elliptic = (namedCurve = 'P-256'): JWK => jwkOf(generateKeyPairSync('ec', { namedCurve }).publicKey);
const rsa = (): JWK => jwkOf(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey);

/** As a module shows a key of its own. */
async function named(jwk: JWK, alg = 'ES256'): Promise<JWK> {
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' };
}

/** The platform's key set, of an identity that asks core for the first time. */
async function publicKeys(): Promise<JWK[]> {
  const env = { CORE_INTERNAL_URL: core.url };
  let app: TestApp | undefined;
  try {
    app = await startTestApp({ module: 'identity', root: IdentityModule, database, env });
    return ((await (await fetch(`${app.url}/.well-known/jwks.json`)).json()) as { keys: JWK[] }).keys;
  } finally {
    await app?.close();
  }
}

describe('the public keys of other modules', () => {
  it('are shown where they are ES256 keys that are called by their own thumbprints, and no others', async () => {
    shown = [];
    const own = await publicKeys();
    expect(own.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256']);
    const { d: secret, ...open } = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    const [right, alsoRight] = [await named(elliptic()), await named(open)];
    shown = [
      right,
      { ...alsoRight, d: secret, key_ops: ['sign'] },
      await named(rsa(), 'RS256'),
      { ...(await named(rsa(), 'RS256')), alg: undefined },
      await named(elliptic('P-384'), 'ES384'),
      { ...(await named(elliptic())), use: 'enc' },
      { ...(await named(elliptic())), alg: undefined },
      // Under the names of identity's own keys, which whoever verifies looks for.
      ...own.map(({ kid }) => ({ ...right, kid })),
      { ...(await named(elliptic())), kid: 'mine' },
      { ...right, kid: undefined },
      await named({ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }),
      { ...right, x: 1 },
      ...own,
      {},
    ];
    const keys = await publicKeys();
    expect(keys).toEqual([...own, right, alsoRight]);
  }, 60_000);
});
