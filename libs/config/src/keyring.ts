import { z } from 'zod';

/** A key by which secrets at rest are sealed; its id stands in what it sealed. */
export interface NamedKey {
  readonly id: string;
  readonly key: Buffer;
}

/** The keys of secrets at rest. */
export interface Keyring {
  /**
   * `ENCRYPTION_KEY`: opens what was sealed without an id, and is what keyed hashes are derived from. It stays: a hash
   * that is recognised by its value cannot be computed anew.
   */
  readonly root: Buffer;
  /** `ENCRYPTION_KEYS`: the first seals, all open. None: the root seals. */
  readonly sealing: readonly NamedKey[];
}

/** The keyring of an environment that was read by `encryptionConfig`. */
export function keyringOf(config: {
  ENCRYPTION_KEY: Buffer;
  ENCRYPTION_KEYS?: NamedKey[] | undefined;
}): Keyring {
  return { root: Buffer.from(config.ENCRYPTION_KEY), sealing: config.ENCRYPTION_KEYS ?? [] };
}

const KEY_BYTES = 32;
const ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})$/;

/** `id:key` and more of them, separated by commas: 32 bytes in base64 each, every id once. */
export function namedKeys() {
  return z.string().transform((text, context): NamedKey[] => {
    const keys = text.split(',').map((entry) => {
      const [, id = '', key = ''] = ENTRY.exec(entry.trim()) ?? [];
      return { id, key: Buffer.from(key, 'base64') };
    });
    const fits = keys.every(({ id, key }) => id !== '' && key.length === KEY_BYTES);
    if (fits && new Set(keys.map(({ id }) => id)).size === keys.length) return keys;
    const message = 'must be id:key pairs separated by commas, each key 32 bytes in base64, each id once';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}
