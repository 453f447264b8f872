import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readConfig, serviceConfig } from '@customer-platform/config';

/** `__Host-`: of this very host, over TLS, set by nobody else, neither a subdomain nor a page in between. */
export const BROWSER_COOKIE = '__Host-browser';
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** A browser by the secret in its cookie. */
export class BrowserBinding {
  private constructor(private readonly secret: string) {}

  /** The browser that asks; undefined for one that was not here yet. */
  static of(request: IncomingMessage): BrowserBinding | undefined {
    const secret = cookiesOf(request).get(BROWSER_COOKIE);
    return secret !== undefined && SECRET.test(secret) ? new BrowserBinding(secret) : undefined;
  }

  /** A secret that nobody knew before: from here on the browser is known by it alone. */
  static fresh(response: ServerResponse): BrowserBinding {
    const secret = randomBytes(32).toString('base64url');
    response.appendHeader(
      'Set-Cookie',
      `${BROWSER_COOKIE}=${secret}; Path=/; Secure; HttpOnly; SameSite=Lax`,
    );
    return new BrowserBinding(secret);
  }

  /** By which what is kept here is bound to the browser. */
  get hash(): Buffer {
    return createHash('sha256').update(this.secret).digest();
  }

  /** Proves that a form for this purpose was made for this browser. */
  tokenFor(purpose: string): string {
    return createHmac('sha256', this.secret).update(`form:${purpose}`).digest('base64url');
  }

  /** Whether a form's token is the one of this browser. */
  knows(purpose: string, token: unknown): boolean {
    const expected = Buffer.from(this.tokenFor(purpose));
    const given = Buffer.from(typeof token === 'string' ? token : '');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/**
 * Whether a form was sent by one of our own pages, as the browser tells. Our pages send no referrer, and for that the
 * origin of their forms is `null` (Fetch, "append a request Origin header"): where the browser says more, that counts;
 * an old one that says neither is left to the form's token.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return true;
  return origin === new URL(readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL).origin;
}

function cookiesOf({ headers }: IncomingMessage): Map<string, string> {
  const pairs = (headers.cookie ?? '').split(';').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    return equals === -1 ? ['', ''] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
  return new Map(pairs);
}
