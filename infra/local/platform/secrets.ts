import { type JsonWebKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { DataFolder } from './data-folder.ts';
import { MODULES, type ModuleName } from './modules.ts';

/** What one module alone knows. */
interface ModuleSecrets {
  /** Passwords of `<module>_owner` and `<module>_app`. */
  owner: string;
  app: string;
  /** Ed25519 private JWK; its `kid` is the module's name. */
  serviceKey: JsonWebKey & { kid: string };
  cursor: string;
  /** 32 bytes, base64. */
  encryption: string;
  /** `id:key` list; the first seals. Absent: `encryption` seals. */
  encryptionKeys?: string;
}

/** Made once, kept in a file that only its owner reads. */
export interface Secrets {
  /** The superuser's password of the embedded PostgreSQL. */
  postgres: string;
  modules: Record<ModuleName, ModuleSecrets>;
  addressPepper: string;
  ledgerKey: string;
  /** Between messaging and the mail catcher, in the form of Standard Webhooks. */
  provider: string;
}

const FILE = 'secrets.json';

export function loadSecrets(data: DataFolder): Secrets {
  const kept = data.readJson<Omit<Secrets, 'provider'> & Partial<Secrets>>(FILE);
  // A folder of an earlier version lacks what has been added since.
  if (kept?.provider !== undefined) return kept as Secrets;
  const secrets: Secrets = {
    postgres: randomText(),
    modules: Object.fromEntries(
      MODULES.map((module) => [module, moduleSecrets(module)]),
    ) as Secrets['modules'],
    addressPepper: randomText(),
    ledgerKey: randomText(),
    ...kept,
    provider: `whsec_${randomBytes(32).toString('base64')}`,
  };
  data.writeJson(FILE, secrets);
  return secrets;
}

/** The JWKS by which every module knows every other. */
export function publicKeys({ modules }: Secrets): { keys: JsonWebKey[] } {
  return { keys: MODULES.map((module) => withoutPrivatePart(modules[module].serviceKey)) };
}

function moduleSecrets(module: ModuleName): ModuleSecrets {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    owner: randomText(),
    app: randomText(),
    serviceKey: { ...privateKey.export({ format: 'jwk' }), kid: module },
    cursor: randomText(),
    encryption: randomBytes(32).toString('base64'),
  };
}

function withoutPrivatePart({ d: _private, ...key }: JsonWebKey): JsonWebKey {
  return key;
}

const randomText = (): string => randomBytes(32).toString('base64url');
