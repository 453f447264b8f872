import { generateKeyPairSync } from 'node:crypto';
import { PROOF_HEADER, proofsOf, signerOf, type ProvenRecord } from '@customer-platform/event-bus';

const MODULES = ['core', 'crm', 'identity', 'loyalty', 'messaging'] as const;

const KEPT = Symbol.for('customer-platform.service-keys');

type KeyPair = ReturnType<typeof aKeyPair>;

/**
 * One Ed25519 pair per module, made once per test process. They are kept beside this module, which each spec file evaluates
 * anew: a platform that several files share goes on with its keys.
 */
const pairs = ((globalThis as { [KEPT]?: KeyPair[] })[KEPT] ??= MODULES.map(aKeyPair));

function aKeyPair(kid: string): { kid: string; privateJwk: object; publicJwk: object } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    kid,
    privateJwk: { ...privateKey.export({ format: 'jwk' }), kid, alg: 'EdDSA' },
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA' },
  };
}

/** What a record of Kafka carries to prove that the module wrote it. */
export function proofBy(module: string, record: ProvenRecord): Record<string, Buffer> {
  const { SERVICE_PRIVATE_KEY: key } = serviceKeys(module);
  const [proof] = proofsOf([record], signerOf(JSON.parse(key) as Parameters<typeof signerOf>[0]));
  return proof ? { [PROOF_HEADER]: proof } : {};
}

/** `SERVICE_PRIVATE_KEY` and `SERVICE_PUBLIC_KEYS` of a module, consistent among all modules of this test process. */
export function serviceKeys(module: string): { SERVICE_PRIVATE_KEY: string; SERVICE_PUBLIC_KEYS: string } {
  const own = pairs.find(({ kid }) => kid === module) ?? pairs[0];
  return {
    SERVICE_PRIVATE_KEY: JSON.stringify(own?.privateJwk),
    SERVICE_PUBLIC_KEYS: JSON.stringify({ keys: pairs.map(({ publicJwk }) => publicJwk) }),
  };
}
