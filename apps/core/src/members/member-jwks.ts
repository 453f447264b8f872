import { log, type OrganizationSnapshot } from '@customer-platform/http';
import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose';

/** The algorithms of an organization's tokens (core.md §12). */
export const TENANT_ALGORITHMS = ['ES256', 'RS256', 'EdDSA'] as const;

/** A public key of an organization. */
export interface TenantKey {
  readonly kid: string;
  readonly algorithm: string;
  /** RFC 7638: tells it from another key that is given the same `kid` later. */
  readonly thumbprint: string;
  readonly publicKey: CryptoKey;
}

/** Settings are shared by all requests until they change, and so is what was made of them. */
const imported = new WeakMap<object, Map<string, Promise<TenantKey | undefined>>>();

/** The key of this `kid` among `settings.member_jwks`, if the organization has it now. */
export async function tenantKey(
  { settings }: OrganizationSnapshot,
  kid: string,
): Promise<TenantKey | undefined> {
  const keys = imported.get(settings) ?? new Map<string, Promise<TenantKey | undefined>>();
  imported.set(settings, keys);
  const known = keys.get(kid);
  if (known) return known;
  const jwk = keysOf(settings['member_jwks']).find((key) => key.kid === kid);
  if (!jwk) return undefined;
  const key = importKey(kid, jwk);
  keys.set(kid, key);
  return key;
}

function keysOf(jwks: unknown): JWK[] {
  if (typeof jwks !== 'object' || jwks === null || !('keys' in jwks) || !Array.isArray(jwks.keys)) return [];
  return jwks.keys.filter((key): key is JWK => typeof key === 'object' && key !== null);
}

/** Undefined for what identity would have refused. */
async function importKey(kid: string, jwk: JWK): Promise<TenantKey | undefined> {
  const algorithm = algorithmOf(jwk);
  if (algorithm === undefined) return undefined;
  try {
    const publicKey = await importJWK({ ...jwk, alg: algorithm }, algorithm);
    if (publicKey instanceof Uint8Array) return undefined;
    return { kid, algorithm, thumbprint: await calculateJwkThumbprint(jwk), publicKey };
  } catch (error) {
    log.warn({ err: error }, 'A key of an organization’s member_jwks cannot be read');
    return undefined;
  }
}

function algorithmOf({ kty, crv }: JWK): string | undefined {
  if (kty === 'RSA') return 'RS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : undefined;
}
