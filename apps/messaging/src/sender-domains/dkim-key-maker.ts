import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';

const generate = promisify(generateKeyPair);

/** RFC 8301: 2,048 bits from every signer. */
const RSA_BITS = 2_048;
const MOST_WAITING = 50;
/** Of one organization: the others come soon, however many it wants. */
const MOST_OF_ONE = 10;

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Two keys that nobody has seen. */
export interface FreshKeys {
  readonly rsa: KeyPair;
  readonly ed25519: KeyPair;
}

/**
 * Makes keys, one pair at a time: an RSA key takes a core for a fifth of a second, and whoever wants many has not all
 * cores of the process for it.
 */
@Injectable()
export class DkimKeyMaker {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private readonly waitingOf = new Map<string, number>();

  /** @throws Problem `rate_limited` where too many wait, of this organization or of all */
  async make(organizationId: string): Promise<FreshKeys> {
    const own = this.waitingOf.get(organizationId) ?? 0;
    if (own >= MOST_OF_ONE) throw tooMany('organization');
    if (this.waiting >= MOST_WAITING) throw tooMany('platform');
    this.waiting += 1;
    this.waitingOf.set(organizationId, own + 1);
    const turn = this.last.then(async () => ({ rsa: await this.rsa(), ed25519: await generate('ed25519') }));
    // The next turn comes after this one, however it ends; its error is its own caller's.
    this.last = Promise.allSettled([turn]);
    try {
      return await turn;
    } finally {
      this.waiting -= 1;
      this.leave(organizationId);
    }
  }

  private leave(organizationId: string): void {
    const others = (this.waitingOf.get(organizationId) ?? 1) - 1;
    if (others === 0) this.waitingOf.delete(organizationId);
    else this.waitingOf.set(organizationId, others);
  }

  /** The one that takes long. */
  rsa(): Promise<KeyPair> {
    return generate('rsa', { modulusLength: RSA_BITS });
  }
}

function tooMany(scope: 'organization' | 'platform'): Problem {
  return new Problem('rate_limited', {
    detail: 'As many keys as may be are being made; try again in 10 s.',
    headers: { 'Retry-After': '10' },
    members: { scope },
  });
}
