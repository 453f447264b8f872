import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { encryptionConfig, readConfig } from '@customer-platform/config';
import { Clock } from '@customer-platform/database';
import type { KnownBrowser } from '../passwords/password-attempts.js';
import { keepInBrowser, keptInBrowser } from '../pages/browser-binding.js';
import { keptAddress } from '../vocabulary/is-email-address.js';

const COOKIE = 'known';
const LIFE_S = 90 * 86_400;
/** So many share a browser; who has not been here for longest is forgotten. */
const MOST = 4;
const ID_LETTERS = 22;
/** Milliseconds in hexadecimal digits, until the year 2527. */
const TIME_LETTERS = 11;
const ENTRY = new RegExp(`^[\\w-]{${String(ID_LETTERS)}}[0-9a-f]{${String(TIME_LETTERS)}}[\\w-]{43}$`);

/**
 * Browsers in which somebody has given the right password of an address (identity.md §7): they have tries of their own,
 * so that nobody elsewhere locks their user out. A cookie is all that is kept, for each address a random name, since when, and
 * the HMAC of both with the address, which it does not tell.
 */
@Injectable()
export class KnownBrowsers {
  private readonly key: Buffer;

  /** Reads `ENCRYPTION_KEY`. */
  constructor(private readonly clock: Clock) {
    const { ENCRYPTION_KEY } = readConfig(encryptionConfig);
    this.key = Buffer.from(
      hkdfSync('sha256', ENCRYPTION_KEY, Buffer.alloc(0), 'identity known browsers', 32),
    );
  }

  /** What the browser is for this address; undefined where nobody has signed in in it with that for 90 days. */
  of(request: IncomingMessage, email: string): KnownBrowser | undefined {
    const found = entriesOf(request).find((entry) => this.isFor(entry, email));
    if (found === undefined) return undefined;
    const since = new Date(parseInt(found.slice(ID_LETTERS, ID_LETTERS + TIME_LETTERS), 16));
    // A browser forgets its cookie by then; who has copied one does not.
    if (this.clock.now().getTime() - since.getTime() > LIFE_S * 1_000) return undefined;
    const name = createHash('sha256').update(found.slice(0, ID_LETTERS)).digest('base64url');
    return { name, since };
  }

  remember(request: IncomingMessage, response: ServerResponse, email: string): void {
    const others = entriesOf(request).filter((entry) => !this.isFor(entry, email));
    const since = this.clock.now().getTime().toString(16).padStart(TIME_LETTERS, '0');
    const own = this.entryOf(randomBytes(16).toString('base64url') + since, email);
    keepInBrowser(response, COOKIE, [own, ...others].slice(0, MOST).join('.'), LIFE_S);
  }

  private isFor(entry: string, email: string): boolean {
    const expected = this.entryOf(entry.slice(0, ID_LETTERS + TIME_LETTERS), email);
    return entry.length === expected.length && timingSafeEqual(Buffer.from(entry), Buffer.from(expected));
  }

  private entryOf(named: string, email: string): string {
    const proof = createHmac('sha256', this.key).update(`${named} ${keptAddress(email)}`);
    return named + proof.digest('base64url');
  }
}

function entriesOf(request: IncomingMessage): string[] {
  const kept = keptInBrowser(request, COOKIE)?.split('.') ?? [];
  return kept.filter((entry) => ENTRY.test(entry)).slice(0, MOST);
}
