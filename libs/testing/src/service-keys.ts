import { generateKeyPairSync } from 'node:crypto';

const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

/** One Ed25519 pair per module, made once per test process. */
const pairs = MODULES.map((kid) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    kid,
    privateJwk: { ...privateKey.export({ format: 'jwk' }), kid, alg: 'EdDSA' },
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA' },
  };
});

/** `SERVICE_PRIVATE_KEY` and `SERVICE_PUBLIC_KEYS` of a module, consistent among all modules of this test process. */
export function serviceKeys(module: string): { SERVICE_PRIVATE_KEY: string; SERVICE_PUBLIC_KEYS: string } {
  const own = pairs.find(({ kid }) => kid === module) ?? pairs[0];
  return {
    SERVICE_PRIVATE_KEY: JSON.stringify(own?.privateJwk),
    SERVICE_PUBLIC_KEYS: JSON.stringify({ keys: pairs.map(({ publicJwk }) => publicJwk) }),
  };
}
