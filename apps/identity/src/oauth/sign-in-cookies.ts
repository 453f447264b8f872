import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';

/** A browser that has left more sign-ins than these is done with the oldest; so its requests stay small. */
const MOST_UNDER_WAY = 8;
/** So long a code is good, and who comes again after a lost answer is given another. */
const COME_AGAIN_MS = 60_000;
/** Where the provider puts the cookies of one sign-in: its pages, and where it goes on. */
const OF_SIGN_IN = /^\/oauth\/(?:interactions|authorize)\/([\w-]{1,64})$/;

/** The names of the provider's cookies. */
interface CookieNames {
  readonly session: string;
  readonly interaction: string;
  readonly resume: string;
}

/**
 * Where the platform is reached by TLS: `__Host-`, which no other host of the domain and nobody in between can set. One
 * that could would put a sign-in of its own into the browser of somebody else.
 */
export function cookieNames(issuer: string): CookieNames {
  const prefix = issuer.startsWith('https:') ? '__Host-' : '';
  return {
    session: `${prefix}sign-in`,
    interaction: `${prefix}interaction`,
    resume: `${prefix}resume`,
  };
}

/**
 * The provider keeps two sign-ins in one browser apart by the paths of their cookies; `__Host-` asks for the path `/`.
 * So what was in the path goes into the name.
 */
export function nameCookiesBySignIn(provider: Provider, names: CookieNames): void {
  const createContext = provider.createContext.bind(provider);
  provider.createContext = (request, response) => {
    const ctx = createContext(request, response);
    const { cookies } = ctx;
    const [get, set] = [cookies.get.bind(cookies), cookies.set.bind(cookies)];
    cookies.get = (name, options) => get(named(name, names, pathOf(request)), options);
    cookies.set = (name, value, options) => {
      const full = named(name, names, options?.path);
      if (full === name) return set(name, value, options);
      if (value) {
        for (const each of surplus(request, names)) set(each, null, { ...options, path: '/' });
        return set(full, value, { ...options, path: '/' });
      }
      // Whose answer was lost comes again within a moment; then a sign-in that has gone on has no use for either.
      const last = { ...options, path: '/', maxAge: COME_AGAIN_MS };
      const [, uid = ''] = OF_SIGN_IN.exec(options?.path ?? '') ?? [];
      set(full.replace(names.resume, names.interaction), uid, last);
      return set(full, uid, last);
    };
    return ctx;
  };
}

function named(name: string, { interaction, resume }: CookieNames, path = ''): string {
  if (name !== interaction && name !== resume) return name;
  const [, uid] = OF_SIGN_IN.exec(path) ?? [];
  return uid === undefined ? name : `${name}-${uid}`;
}

/** Browsers send the oldest first. */
function surplus({ headers }: IncomingMessage, { interaction, resume }: CookieNames): string[] {
  const sent = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('=', 1)[0] ?? '');
  return [interaction, resume].flatMap((kind) =>
    sent.filter((name) => /^[\w-]+$/.test(name) && name.startsWith(`${kind}-`)).slice(0, -MOST_UNDER_WAY),
  );
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
