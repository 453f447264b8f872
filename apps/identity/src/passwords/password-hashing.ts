import { argon2, randomBytes, type Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 30 ms of one core. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Half of the cores, so that the event loop always has one, and of libuv's four threads: others read files and names. */
const AT_ONCE = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
/** Who comes when so many wait already would have to wait for seconds. */
const MOST_WAITING = 60;

/**
 * Hashes passwords with argon2id (RFC 9106) on threads of the pool, a few at a time: the event loop stays free, and a
 * flood of passwords waits or is refused instead of taking memory.
 */
@Injectable()
export class PasswordHashing {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** In the PHC string format, which says how it was made. @throws Problem `rate_limited` when too many wait */
  async hash(password: string): Promise<string> {
    await this.turn();
    try {
      const salt = randomBytes(SALT_BYTES);
      return phc(salt, await derive(normalized(password), salt));
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }

  private async turn(): Promise<void> {
    if (this.running >= AT_ONCE) {
      if (this.waiting.length >= MOST_WAITING) throw tooMany();
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    this.running += 1;
  }
}

/** The same password, whatever keyboard composed its characters (NIST SP 800-63B, 3.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

function derive(message: string, nonce: Buffer): Promise<Buffer> {
  const parameters: Argon2Parameters = { message, nonce, tagLength: TAG_BYTES, ...COST };
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => (error ? reject(error) : resolve(tag)));
  });
}

function phc(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = COST;
  const cost = `m=${String(memory)},t=${String(passes)},p=${String(parallelism)}`;
  return `$argon2id$v=19$${cost}$${unpadded(salt)}$${unpadded(tag)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

function tooMany(): Problem {
  return new Problem('rate_limited', {
    detail: 'Too many passwords are being set at this moment; try again shortly.',
    headers: { 'Retry-After': '2' },
    members: { scope: 'platform' },
  });
}
