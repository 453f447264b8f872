import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PasswordPool } from './password-pool.js';

/** What a hash costs to make. */
interface Cost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 30 ms of one core. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Hashes passwords with argon2id (RFC 9106) on threads of their own, a few at a time: the event loop stays free. */
@Injectable()
export class PasswordHashing {
  /** No password's; made by the present cost, so that it takes as long to compare with as one that is. */
  private readonly nobodys = phc(COST, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));

  constructor(private readonly pool: PasswordPool) {}

  /** In the PHC string format, which says how it was made. @throws Problem `rate_limited` when too many wait, in all or from there */
  async hash(password: string, ip?: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const wanted = { nonce: salt, tagLength: TAG_BYTES, ...COST };
    return phc(COST, salt, await this.pool.derive({ message: normalized(password), ...wanted }, ip));
  }

  /**
   * Whether the password is the hash's. Of nobody's hash (undefined or null) it is not, which takes as long to say.
   * @throws Problem `rate_limited` when too many wait, in all or from there
   */
  async verify(hash: string | null | undefined, password: string, ip?: string): Promise<boolean> {
    const { cost, salt, tag } = parsePhc(hash ?? this.nobodys);
    const wanted = { nonce: salt, tagLength: tag.length, ...cost };
    const derived = await this.pool.derive({ message: normalized(password), ...wanted }, ip);
    return timingSafeEqual(derived, tag) && typeof hash === 'string';
  }
}

/** The same password, whatever keyboard composed its characters (NIST SP 800-63B, 3.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

function phc({ memory, passes, parallelism }: Cost, salt: Buffer, tag: Buffer): string {
  const cost = `m=${String(memory)},t=${String(passes)},p=${String(parallelism)}`;
  return `$argon2id$v=19$${cost}$${unpadded(salt)}$${unpadded(tag)}`;
}

function parsePhc(hash: string): { cost: Cost; salt: Buffer; tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(hash) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('A stored password hash has an unknown form');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
