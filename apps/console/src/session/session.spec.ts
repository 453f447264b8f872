import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ErrorResponse, type User, type UserManager } from 'oidc-client-ts';
import { Session, UNATTENDED_AFTER_MS } from './session.ts';

const ORGANIZATION = '0190b0a0-0000-7000-8000-000000000001';
const INFO = { sub: 'person-1', organization: { id: ORGANIZATION, name: 'Acme', slug: 'acme' } };
const OUTAGES = ['temporarily_unavailable', 'server_error'];

/** What the provider does when it is asked silently, one after the other; the last goes on. */
type Answer = User | Error;

let provider: FakeProvider;
let page: EventTarget & { location: { origin: string; pathname: string; search: string } };
let platform: Server;
let userinfo: { status: number; body: unknown };
let now: number;
const sessions = new Set<Session>();
const fetched = globalThis.fetch;

beforeEach(async () => {
  provider = new FakeProvider();
  userinfo = { status: 200, body: INFO };
  now = Date.parse('2026-11-21T09:30:00.000Z');
  platform = createServer((_request, response) => {
    response.writeHead(userinfo.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(userinfo.body));
  });
  await new Promise<void>((done) => platform.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
  page = Object.assign(new EventTarget(), { location: { origin, pathname: '/console/', search: '' } });
  Object.assign(globalThis, { window: page });
  // A browser reads paths as of its page.
  globalThis.fetch = (path, init) => fetched(new URL(path as string, origin), init);
});
afterEach(async () => {
  for (const session of sessions) session.close();
  sessions.clear();
  globalThis.fetch = fetched;
  Reflect.deleteProperty(globalThis, 'window');
  await new Promise((done) => platform.close(done));
});

/** In place of the library's: what matters is what the Console makes of its answers. */
class FakeProvider {
  silent: Answer[] = [];
  callback: Answer = new Error('none');
  redirect: Error | undefined;
  redirects = 0;
  silentCalls: { forceIframeAuth?: boolean }[] = [];

  signinSilent(options: { forceIframeAuth?: boolean } = {}): Promise<User> {
    this.silentCalls.push(options);
    const [answer = new Error('none')] = this.silent.length > 1 ? this.silent.splice(0, 1) : this.silent;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }

  signinRedirectCallback(): Promise<User> {
    return this.callback instanceof Error ? Promise.reject(this.callback) : Promise.resolve(this.callback);
  }

  signinRedirect(): Promise<void> {
    this.redirects += 1;
    return this.redirect === undefined ? Promise.resolve() : Promise.reject(this.redirect);
  }

  removeUser(): Promise<void> {
    return Promise.resolve();
  }
}

function aUser(token: string, expiresIn: number): User {
  const claims = Buffer.from(JSON.stringify({ org_id: ORGANIZATION })).toString('base64url');
  const user = { access_token: `${token}.${claims}.`, expires_in: expiresIn, profile: { sub: INFO.sub } };
  return user as unknown as User;
}

const said = (error: string): ErrorResponse => new ErrorResponse({ error });

function aSession(configuration?: () => Promise<{ client_id: string; release: string }>): Session {
  const known = { client_id: 'console', release: '1' };
  const connect = (): UserManager => provider as unknown as UserManager;
  const session = new Session(configuration ?? known, connect, () => now);
  sessions.add(session);
  return session;
}

const at = (pathname: string): Location => ({ href: pathname, pathname }) as Location;

async function signedIn(expiresIn: number): Promise<Session> {
  provider.silent = [aUser('first', expiresIn)];
  const session = aSession();
  await session.start(at('/console/'));
  expect(session.current()).toMatchObject({ kind: 'signed-in', ended: false });
  provider.silentCalls = [];
  return session;
}

const tokenOf = (session: Session, options?: { renew?: boolean }): Promise<string> =>
  session.tokensOf(ORGANIZATION)(options);
const turns = (): Promise<void> => new Promise(setImmediate);

describe('a sign-in that does not begin', () => {
  it.each<[string, Error]>([
    ...OUTAGES.map((code): [string, Error] => [code, said(code)]),
    ['no answer', new TypeError('Failed to fetch')],
    ['an answer that came too late', Object.assign(new Error('timed out'), { name: 'TimeoutError' })],
  ])('%s: the platform does not answer', async (_name, error) => {
    provider.silent = [error];
    const session = aSession();
    await session.start(at('/console/'));
    expect(session.current()).toEqual({ kind: 'unreachable' });
    expect(provider.redirects).toBe(0);
  });

  it.each(OUTAGES)('the provider sends one back with %s: the platform does not answer', async (code) => {
    provider.callback = said(code);
    const session = aSession();
    await session.start(at('/console/callback'));
    expect(session.current()).toEqual({ kind: 'unreachable' });
  });

  it.each([500, 503])('userinfo answers %i: the platform does not answer', async (status) => {
    provider.silent = [aUser('first', 300)];
    userinfo = { status, body: { error: 'temporarily_unavailable' } };
    const session = aSession();
    await session.start(at('/console/'));
    expect(session.current()).toEqual({ kind: 'unreachable' });
  });

  it('the configuration cannot be read: the platform does not answer, and nothing rejects', async () => {
    const session = aSession(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(session.start(at('/console/'))).resolves.toBeUndefined();
    expect(session.current()).toEqual({ kind: 'unreachable' });
  });

  it('the way to the provider fails: the platform does not answer, and nothing rejects', async () => {
    provider.silent = [said('login_required')];
    provider.redirect = new TypeError('Failed to fetch');
    const session = aSession();
    await expect(session.start(at('/console/'))).resolves.toBeUndefined();
    expect(session.current()).toEqual({ kind: 'unreachable' });
  });

  it('needs a person: the provider’s pages are next, but for an invitation', async () => {
    provider.silent = [said('login_required')];
    const session = aSession();
    await session.start(at('/console/'));
    expect(provider.redirects).toBe(1);
    await session.start(at('/console/invitation'));
    expect(session.current()).toEqual({ kind: 'signed-out' });
  });

  it('is refused: it says by which code', async () => {
    provider.silent = [said('access_denied')];
    const session = aSession();
    await session.start(at('/console/'));
    expect(session.current()).toEqual({ kind: 'refused', code: 'access_denied' });
  });
});

describe('a renewal', () => {
  it.each<[string, Error]>([
    ...OUTAGES.map((code): [string, Error] => [code, said(code)]),
    ['no answer', new TypeError('Failed to fetch')],
    ['a code that nobody knows', said('slow_down')],
  ])('%s: the session is alive, and the next one renews it', async (_name, error) => {
    const session = await signedIn(10);
    provider.silent = [error];
    await expect(tokenOf(session)).rejects.toBe(error);
    expect(session.current()).toMatchObject({ kind: 'signed-in', ended: false });
    provider.silent = [aUser('second', 300)];
    expect(await tokenOf(session)).toMatch(/^second/);
  });

  it('whose refresh token was out while the frame met an outage ends nothing', async () => {
    const session = await signedIn(10);
    provider.silent = [said('invalid_grant'), said('temporarily_unavailable')];
    await expect(tokenOf(session)).rejects.toThrow();
    expect(session.current()).toMatchObject({ kind: 'signed-in', ended: false });
  });

  it('that an outage met asks no frame', async () => {
    const session = await signedIn(10);
    provider.silent = [said('temporarily_unavailable')];
    await expect(tokenOf(session)).rejects.toThrow();
    expect(provider.silentCalls.map(({ forceIframeAuth }) => forceIframeAuth)).toEqual([undefined]);
  });

  it.each(['login_required', 'interaction_required', 'invalid_grant', 'access_denied'])(
    '%s twice: the session has ended, and the page stays',
    async (code) => {
      const session = await signedIn(10);
      provider.silent = [said(code)];
      await expect(tokenOf(session)).rejects.toThrow();
      expect(session.current()).toMatchObject({ kind: 'signed-in', ended: true });
    },
  );

  it('whose refresh token is over goes on by the provider’s own session', async () => {
    const session = await signedIn(10);
    provider.silent = [said('invalid_grant'), aUser('second', 300)];
    expect(await tokenOf(session)).toMatch(/^second/);
    expect(session.current()).toMatchObject({ kind: 'signed-in', ended: false });
  });
});

describe('a page that nobody touches', () => {
  it('uses its token to the end, renews none, and shows that the session has ended', async () => {
    const session = await signedIn(300);
    now += UNATTENDED_AFTER_MS + 1;
    expect(await tokenOf(session)).toMatch(/^first/);
    const idle = await signedIn(10);
    now += UNATTENDED_AFTER_MS + 1;
    const asked = [tokenOf(idle), idle.readAgain(), idle.readAgain()];
    await turns();
    expect(idle.current()).toMatchObject({ kind: 'signed-in', ended: true });
    expect(provider.silentCalls).toEqual([]);
    // Somebody is back while the provider's session is alive: all goes on, without a sign-in.
    provider.silent = [aUser('second', 300)];
    page.dispatchEvent(new Event('keydown'));
    expect(await asked[0]).toMatch(/^second/);
    await Promise.all(asked);
    expect(idle.current()).toMatchObject({ kind: 'signed-in', ended: false });
    expect(provider.silentCalls).toHaveLength(1);
  });

  it('needs a sign-in where the provider’s session is over by then', async () => {
    const session = await signedIn(10);
    now += UNATTENDED_AFTER_MS + 1;
    const asked = tokenOf(session);
    await turns();
    provider.silent = [said('login_required')];
    page.dispatchEvent(new Event('pointerdown'));
    await expect(asked).rejects.toThrow();
    expect(session.current()).toMatchObject({ kind: 'signed-in', ended: true });
  });

  it('is not one while another tab is used', async () => {
    const session = await signedIn(10);
    now += UNATTENDED_AFTER_MS + 1;
    const asked = tokenOf(session);
    await turns();
    provider.silent = [aUser('second', 300)];
    const other = new BroadcastChannel('console-attention');
    other.postMessage('input');
    expect(await asked).toMatch(/^second/);
    other.close();
  });

  it('renews while somebody is at it', async () => {
    const session = await signedIn(10);
    now += UNATTENDED_AFTER_MS + 1;
    page.dispatchEvent(new Event('wheel'));
    provider.silent = [aUser('second', 300)];
    expect(await tokenOf(session)).toMatch(/^second/);
  });

  it('learns at once that the platform refuses a token that is not at its end', async () => {
    const session = await signedIn(200);
    now += UNATTENDED_AFTER_MS + 1;
    provider.silent = [said('invalid_grant')];
    await expect(tokenOf(session, { renew: true })).rejects.toThrow();
    expect(session.current()).toMatchObject({ kind: 'signed-in', ended: true });
  });
});
