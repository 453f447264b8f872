import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Keyring } from '@customer-platform/config';

const WITHOUT_ID = 'v1';
const WITH_ID = 'v2';

/**
 * Secrets at rest: AES-256-GCM under keys derived from a keyring, bound to the place they belong to, so that a text
 * copied to another row does not open and nobody can put in one of their own. The first key seals, all open.
 */
export class KeySeal {
  private readonly root: Buffer;
  private readonly keys: ReadonlyMap<string, Buffer>;

  /** For one purpose: what was sealed for another it cannot open. A key alone is a ring without named keys. */
  constructor(keyring: Keyring | Buffer, purpose: string) {
    const { root, sealing } = Buffer.isBuffer(keyring) ? { root: keyring, sealing: [] } : keyring;
    this.root = derive(root, purpose);
    this.keys = new Map(sealing.map(({ id, key }) => [id, derive(key, purpose)]));
  }

  /** `v2.<key id>.<iv>.<tag>.<ciphertext>`, base64url; without named keys `v1.<iv>.<tag>.<ciphertext>`. */
  seal(place: string, text: string): string {
    const [first] = this.keys;
    const [id, key] = first ?? [undefined, this.root];
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const pieces = [iv, cipher.getAuthTag(), ciphertext].map((piece) => piece.toString('base64url'));
    return [...(id === undefined ? [WITHOUT_ID] : [WITH_ID, id]), ...pieces].join('.');
  }

  /** The text; throws where the key is not among ours, the place is another, or the text was altered. */
  open(place: string, sealed: string): string {
    const { key, pieces } = this.keyOf(sealed);
    const [iv = '', tag = '', ciphertext = ''] = pieces;
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
      .setAAD(Buffer.from(place))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return decipher.update(ciphertext, 'base64url', 'utf8') + decipher.final('utf8');
  }

  /** The text sealed by the key that seals now; undefined if it is already. Throws as `open`. */
  renew(place: string, sealed: string): string | undefined {
    const text = this.open(place, sealed);
    const [id] = this.keys.keys();
    const mark = id === undefined ? `${WITHOUT_ID}.` : `${WITH_ID}.${id}.`;
    return sealed.startsWith(mark) ? undefined : this.seal(place, text);
  }

  private keyOf(sealed: string): { key: Buffer; pieces: string[] } {
    const [version, ...rest] = sealed.split('.');
    if (version === WITHOUT_ID && rest.length === 3) return { key: this.root, pieces: rest };
    const [id = '', ...pieces] = rest;
    if (version !== WITH_ID || pieces.length !== 3) throw new Error('A sealed text has an unknown form');
    // A process that has no list yet opens what its neighbours seal by the same key under its new name.
    const key = this.keys.size === 0 ? this.root : this.keys.get(id);
    if (key === undefined) throw new Error(`A text is sealed by the key ${id}, which ENCRYPTION_KEYS lacks`);
    return { key, pieces };
  }
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32));
}
