import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readConfig, serviceConfig } from '@customer-platform/config';

const NAME = 'browser';
const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** A browser that has left more sign-ins than these is done with the oldest. */
const MOST_UNDER_WAY = 8;

/**
 * Names a cookie. Where the platform is reached by TLS `__Host-`: of this very host, set by nobody else, neither a
 * subdomain nor a page in between. Safari takes no cookie that is `Secure` from http, not even from this machine.
 */
function cookieNamed(name: string): string {
  return `${isSecure() ? '__Host-' : ''}${name}`;
}

/** Names the cookie; with the sign-in that it is of, once somebody has authenticated in that. */
export function browserCookie(uid?: string): string {
  return cookieNamed(`${NAME}${uid === undefined ? '' : `-${uid}`}`);
}

/** Keeps a text in the browser for so long, out of reach of scripts; 0 takes it away. */
export function keepInBrowser(response: ServerResponse, name: string, text: string, forS: number): void {
  const line = `${cookieNamed(name)}=${text}; ${attributes()}; Max-Age=${String(forS)}`;
  response.appendHeader('Set-Cookie', line);
}

/** Reads what was kept so. */
export function keptInBrowser(request: IncomingMessage, name: string): string | undefined {
  return cookiesOf(request).get(cookieNamed(name));
}

/** A browser by the secret in its cookie. */
export class BrowserBinding {
  private constructor(private readonly secret: string) {}

  /**
   * The browser that asks; undefined for one that was not here yet. Each sign-in has a secret of its own from its
   * authentication on, so that two tabs do not take it from each other.
   */
  static of(request: IncomingMessage, uid?: string): BrowserBinding | undefined {
    const cookies = cookiesOf(request);
    const own = uid === undefined ? undefined : cookies.get(browserCookie(uid));
    const secret = own ?? cookies.get(browserCookie());
    return secret !== undefined && SECRET.test(secret) ? new BrowserBinding(secret) : undefined;
  }

  /** A secret that nobody knew before: from here on the browser is known by it alone, in the sign-in that it is for. */
  static fresh(response: ServerResponse, uid?: string): BrowserBinding {
    const secret = randomBytes(32).toString('base64url');
    response.appendHeader('Set-Cookie', `${browserCookie(uid)}=${secret}; ${attributes()}`);
    const others = uid === undefined ? [] : [...cookiesOf(response.req).keys()].filter(isOfSignIn);
    for (const name of others.filter((name) => name !== browserCookie(uid)).slice(0, 1 - MOST_UNDER_WAY))
      response.appendHeader('Set-Cookie', `${name}=; ${attributes()}; Max-Age=0`);
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
  return origin === new URL(publicUrl()).origin;
}

function publicUrl(): string {
  return readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL;
}

function attributes(): string {
  return `Path=/; ${isSecure() ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`;
}

function isSecure(): boolean {
  return publicUrl().startsWith('https:');
}

function isOfSignIn(name: string): boolean {
  return name.startsWith(browserCookie('')) && /^[\w-]+$/.test(name);
}

function cookiesOf({ headers }: IncomingMessage): Map<string, string> {
  const pairs = (headers.cookie ?? '').split(';').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    return equals === -1 ? ['', ''] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
  return new Map(pairs);
}
