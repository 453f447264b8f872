import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { encryptionConfig, readConfig } from '@customer-platform/config';
import { Problem } from '@customer-platform/problem-json';

/** Which token of which row. */
export interface NamedToken {
  readonly organizationId: string;
  readonly id: string;
  /** Counted on by every new one: the tokens before are dead. */
  readonly generation: number;
}

/** A kind of token: none is taken for one of another kind. */
interface LinkTokenKind {
  /** By which a reader tells the kind, and a search finds leaks. */
  readonly prefix: string;
  /** By which the key is derived. */
  readonly purpose: string;
}

const UUID_BYTES = 16;
const NAMED_BYTES = 2 * UUID_BYTES + 4;
const MAC_BYTES = 32;
/** What is named is 48 letters of a token; who has the token proves it by these and the SHA-256 of all of it. */
const PROOF = /^[A-Za-z0-9_-]{48}\.[A-Za-z0-9_-]{43}$/;
/** Base64url of what is named and its HMAC. */
const FORM = /^[A-Za-z0-9_-]{91}$/;

/**
 * Tokens of links in mails (identity.md §3): an HMAC of id and generation, computed when a mail is rendered and when
 * somebody comes with one. None is stored, so none can be read from a database, a log or a topic.
 */
export class LinkTokens {
  private readonly prefix: string;
  private readonly key: Buffer;

  /** Reads `ENCRYPTION_KEY`. */
  constructor({ prefix, purpose }: LinkTokenKind) {
    const { ENCRYPTION_KEY } = readConfig(encryptionConfig);
    this.prefix = prefix;
    this.key = Buffer.from(hkdfSync('sha256', ENCRYPTION_KEY, Buffer.alloc(0), purpose, MAC_BYTES));
  }

  tokenOf(named: NamedToken): string {
    const bytes = bytesOf(named);
    return this.prefix + Buffer.concat([bytes, this.mac(bytes)]).toString('base64url');
  }

  /** Which token this is; undefined for one that was not made here, or was altered. */
  read(token: string): NamedToken | undefined {
    if (!token.startsWith(this.prefix) || !FORM.test(token.slice(this.prefix.length))) return undefined;
    const bytes = Buffer.from(token.slice(this.prefix.length), 'base64url');
    const named = namedIn(bytes);
    // The texts are compared, not their bytes: base64 has more than one text for some bytes.
    return timingSafeEqual(Buffer.from(token), Buffer.from(this.tokenOf(named))) ? named : undefined;
  }

  /** The token that somebody proves to have, without sending it; undefined where it is none. */
  readProof(proof: string): NamedToken | undefined {
    if (!PROOF.test(proof)) return undefined;
    const [names = '', digest = ''] = proof.split('.');
    const named = namedIn(Buffer.from(names, 'base64url'));
    const expected = createHash('sha256').update(this.tokenOf(named)).digest('base64url');
    return timingSafeEqual(Buffer.from(digest), Buffer.from(expected)) ? named : undefined;
  }

  /**
   * The token of a body, which is the credential of the call: it is looked at before anything else of the body.
   * @throws Problem `missing_credentials`, `invalid_token`
   */
  readFrom(body: unknown): NamedToken {
    const text = typeof body === 'object' && body !== null && 'token' in body ? body.token : undefined;
    if (typeof text !== 'string') throw new Problem('missing_credentials');
    const token = this.read(text);
    if (!token) throw new Problem('invalid_token');
    return token;
  }

  private mac(named: Buffer): Buffer {
    return createHmac('sha256', this.key).update(named).digest();
  }
}

function namedIn(bytes: Buffer): NamedToken {
  const [organizationId, id] = [uuidAt(bytes, 0), uuidAt(bytes, UUID_BYTES)];
  return { organizationId, id, generation: bytes.readUInt32BE(2 * UUID_BYTES) };
}

function bytesOf({ organizationId, id, generation }: NamedToken): Buffer {
  const bytes = Buffer.alloc(NAMED_BYTES);
  bytes.write(organizationId.replaceAll('-', ''), 0, 'hex');
  bytes.write(id.replaceAll('-', ''), UUID_BYTES, 'hex');
  bytes.writeUInt32BE(generation, 2 * UUID_BYTES);
  return bytes;
}

function uuidAt(bytes: Buffer, from: number): string {
  const hex = bytes.toString('hex', from, from + UUID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
