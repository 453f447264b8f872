import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Places, type PlaceOwner } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

const generate = promisify(generateKeyPair);

/** RFC 8301: 2,048 bits from every signer. */
const RSA_BITS = 2_048;
/** Who waits: the others come soon, however many anybody wants. */
export const KEYS_AT_ONCE = { inAll: 50, ofTenant: 15, ofOrganization: 10 };

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
  private readonly places = new Places(KEYS_AT_ONCE, tooMany);

  /** @throws Problem `rate_limited` where too many wait, of this organization, of its tenant or of all */
  async make(owner: PlaceOwner): Promise<FreshKeys> {
    return this.places.hold(owner, () => {
      const turn = this.last.then(async () => ({
        rsa: await this.rsa(),
        ed25519: await generate('ed25519'),
      }));
      // The next turn comes after this one, however it ends; its error is its own caller's.
      this.last = Promise.allSettled([turn]);
      return turn;
    });
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
