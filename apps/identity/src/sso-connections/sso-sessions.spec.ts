import { newId } from '@customer-platform/database';
import { Caller, eventually, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { Browser, ISSUER, TestClient, type Answers } from '../oauth/browser.fixture.js';
import type { SignedIn } from '../vocabulary/signed-in.js';
import { PageVisitor, type Shown } from '../sign-in/page-visitor.fixture.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';

const ANYTHING = '/v1/identity/permissions?limit=1';
const CONNECTIONS = '/v1/identity/sso-connections';

/** Sessions of people whom a provider has let in, as their clients and every module see them. */
describe('sessions by an SSO connection', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let connection: TestConnection;
  let client: TestClient;
  let userId: string;

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(async () => {
    provider.behave();
    connection = await bench.connection(provider.issuer);
    const { organization, domain } = connection;
    client = await TestClient.register(bench.identity, organization);
    userId = await bench.person(organization.id, `${newId()}@${domain}`);
    await bench.identity.member(organization, userId, 'admin');
    await bench.identity.signedIn(organization); // one administrator stays
    provider.claims = { sub: userId, email: await emailOf(userId), email_verified: true };
  });

  const emailOf = async (id: string): Promise<unknown> => (await bench.user(id))['email'];
  /** Who came back from the provider just now. */
  const arrival = async (anew: object = {}): Promise<SignedIn> => {
    const binding = aBrowser();
    const { id, organization } = connection;
    const asked = { uid: `interaction-${id}`, client: { organizationId: organization.id } };
    const url = await bench.sso.begin(asked, id, { browserHash: binding, anew });
    return (await bench.finish(provider.authorize(url), binding)).signedIn;
  };
  const answersOf =
    (signedIn: SignedIn): Answers =>
    () => ({ signedIn });
  const statusOf = async (token: string): Promise<number> =>
    (await new Caller(bench.identity.app.url, token, () => true).get(ANYTHING)).status;
  const becomes = (token: string, status: number) =>
    eventually(async () => expect(await statusOf(token)).toBe(status));
  const kept = async (
    token: string,
  ): Promise<{ connection_id: string | null; ended_reason: string | null }> => {
    const [row] = await bench.identity.database.query<{
      connection_id: string | null;
      ended_reason: string | null;
    }>('SELECT connection_id, ended_reason FROM sessions WHERE id = $1', [decodeJwt(token)['sid']]);
    if (!row) throw new Error('There is no such session');
    return row;
  };
  /** What a browser is told when nobody may be asked. */
  const quietly = async (of: TestClient, browser: Browser): Promise<string | null> => {
    const nobody: Answers = () => ({ error: 'asked' });
    const { back } = await of.code(nobody, { browser, further: { prompt: 'none' } });
    return back.searchParams.get('error');
  };

  it('know it, and so do those that the browser begins later with other clients', async () => {
    const first = await client.tokens(answersOf(await arrival()));
    expect(decodeJwt(first.access_token)['amr']).toEqual(['fed']);
    expect((await kept(first.access_token)).connection_id).toBe(connection.id);
    const other = await TestClient.register(bench.identity, connection.organization);
    const asked: Answers = () => ({ error: 'asked' });
    const second = await other.tokens(asked, { browser: first.browser });
    expect(decodeJwt(second.access_token)['sid']).not.toBe(decodeJwt(first.access_token)['sid']);
    expect((await kept(second.access_token)).connection_id).toBe(connection.id);
    // Not by what came first in the browser: by the last sign-in.
    const password = { userId, amr: ['pwd'], authenticatedAt: new Date(Date.now() + 2_000) };
    const again = { browser: first.browser, further: { prompt: 'login' } };
    const third = await client.tokens(() => ({ signedIn: password }), again);
    expect((await kept(third.access_token)).connection_id).toBeNull();
  });

  it('know it where an organization is chosen in a step of its own', async () => {
    const elsewhere = await bench.identity.organization();
    await bench.identity.member(elsewhere, userId, 'analyst');
    const wide = await TestClient.register(bench.identity, connection.organization, {
      organizations: 'tree',
    });
    const signedIn = await arrival();
    const answers: Answers = ({ prompt, scopes }) =>
      prompt === 'consent'
        ? { consent: scopes }
        : prompt === 'organization'
          ? { signedIn, organizationId: connection.organization.id }
          : { signedIn };
    const { access_token: token } = await wide.tokens(answers);
    expect((await kept(token)).connection_id).toBe(connection.id);
  });

  const switchedOff: [string, () => Promise<{ status: number }>][] = [
    [
      'it is switched off',
      () => connection.organization.admin.patch(`${CONNECTIONS}/${connection.id}`, { status: 'inactive' }),
    ],
    ['it is deleted', () => connection.organization.admin.delete(`${CONNECTIONS}/${connection.id}`)],
    [
      'the domain is taken off it',
      async () => {
        const { organization, id } = connection;
        const domains = [await provenDomain(connection)];
        return organization.admin.patch(`${CONNECTIONS}/${id}`, { domains });
      },
    ],
  ];
  /** Another domain of the organization, which leads nowhere. */
  const provenDomain = async ({ organization }: TestConnection): Promise<string> => {
    const { id, domain } = await bench.connection(provider.issuer, {}, organization);
    expectStatus(await organization.admin.delete(`${CONNECTIONS}/${id}`), 204);
    return domain;
  };

  it.each(switchedOff)('are over once %s, by access and by refresh, in every browser', async (_, end) => {
    const first = await client.tokens(answersOf(await arrival()));
    const other = await TestClient.register(bench.identity, connection.organization);
    const second = await other.tokens(answersOf(await arrival()), { browser: first.browser });
    const byPassword = await client.tokens(() => ({
      signedIn: { userId, amr: ['pwd'], authenticatedAt: new Date() },
    }));
    for (const { access_token: token } of [first, second, byPassword]) await becomes(token, 200);
    expect((await end()).status).toBeLessThan(300);
    for (const { access_token: token } of [first, second]) {
      await becomes(token, 401);
      expect((await kept(token)).ended_reason).toBe('revoked');
    }
    expect((await client.refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    expect((await other.refresh(second.refresh_token)).body.error).toBe('invalid_grant');
    expect(await quietly(client, first.browser)).toBe('login_required');
    expect(await statusOf(byPassword.access_token)).toBe(200);
  });

  it('are not begun by a browser whose user has an address of another domain by now', async () => {
    const first = await client.tokens(answersOf(await arrival()));
    const other = await TestClient.register(bench.identity, connection.organization);
    await bench.identity.within(connection.organization.id, (tx) =>
      tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, `${userId}@example.com`]),
    );
    expect(await quietly(other, first.browser)).toBe('login_required');
    expect(await quietly(client, first.browser)).toBe('login_required');
  });

  it('are not begun by who came back before it was switched off: they are asked anew', async () => {
    const signedIn = await arrival();
    await bench.set(connection, { status: 'inactive' });
    let asked = 0;
    const answers: Answers = () =>
      (asked += 1) === 1 ? { signedIn } : { signedIn: { userId, amr: ['pwd'], authenticatedAt: new Date() } };
    const { access_token: token } = await client.tokens(answers);
    expect([asked, (await kept(token)).connection_id]).toEqual([2, null]);
  });

  it('are not begun by a sign-in that was left half way, though another one of the browser goes on', async () => {
    const before = { userId, amr: ['pwd'], authenticatedAt: new Date(Date.now() - 5_000) };
    const { browser } = await client.tokens(() => ({ signedIn: before }));
    const signedIn = await arrival();
    await bench.set(connection, { status: 'inactive' });
    let asked = 0;
    const leaves: Answers = () => ((asked += 1) === 1 ? { signedIn } : { error: 'access_denied' });
    await client.code(leaves, { browser, further: { prompt: 'login' } });
    expect(asked).toBe(2);
    expect(await quietly(client, browser)).toBe('login_required');
  });

  it('says in its tokens when its user authenticated there, and lasts from the arrival', async () => {
    const at = Math.floor(Date.now() / 1_000) - 3 * 86_400;
    provider.claims = { ...provider.claims, auth_time: at };
    const tokens = await client.tokens(answersOf(await arrival()));
    for (const token of [tokens.access_token, tokens.id_token])
      expect(decodeJwt(token)['auth_time']).toBe(at);
    await eventually(async () => expect(await statusOf(tokens.access_token)).toBe(200));
    const { browser } = tokens;
    const quietly = async (further: Record<string, string>, who = client) => {
      const { back } = await who.code(() => ({ error: 'access_denied' }), {
        browser,
        further: { prompt: 'none', ...further },
      });
      return back.searchParams.get('error');
    };
    expect(await quietly({})).toBeNull();
    expect(await quietly({}, await TestClient.register(bench.identity, connection.organization))).toBeNull();
    expect(await quietly({ max_age: '60' })).toBe('login_required');
    expect(await quietly({ max_age: String(4 * 86_400) })).toBeNull();
  });

  it.each([1e300, Number.MAX_SAFE_INTEGER, 4_000_000_000])(
    'takes its own clock where the provider says nothing that can be: %j',
    async (auth_time) => {
      provider.claims = { ...provider.claims, auth_time };
      const { authTime } = await arrival();
      expect(authTime).toBeUndefined();
    },
  );

  const now = () => Math.floor(Date.now() / 1_000);
  it.each<[string, number | undefined, object, number]>([
    ['long ago', now() - 3_600, {}, 403],
    ['nobody knows when', undefined, {}, 403],
    ['just now', now() - 60, {}, 204],
    ['just now, by a clock that is ahead', now() + 40, {}, 204],
    ['in some year to come', 4_000_000_000, {}, 403],
    ['anew, as it was asked for, without a time', undefined, { prompt: 'login' }, 204],
  ])('is one of lately where its user authenticated there %s', async (_, auth_time, anew, status) => {
    provider.claims = { ...provider.claims, auth_time };
    const other = await client.tokens(answersOf(await arrival()));
    const { access_token: token } = await client.tokens(answersOf(await arrival(anew)));
    const caller = new Caller(bench.identity.app.url, token, () => true);
    await becomes(token, 200);
    const ended = await caller.delete(
      `/v1/identity/sessions/${String(decodeJwt(other.access_token)['sid'])}`,
    );
    expect(ended.status).toBe(status);
  });

  it('sets up a first factor at sign-in once its user has authenticated there anew', async () => {
    const path = `/v1/identity/organizations/${connection.organization.id}`;
    expectStatus(
      await connection.organization.admin.patch(path, { settings: { mfa_policy: 'required' } }),
      200,
    );
    const visitor = new PageVisitor(new Browser(bench.identity), ISSUER);
    const arrive = async (shown: Shown) => {
      const way = await visitor.send(shown, 'email', { email: `ana@${connection.domain}` });
      const url = new URL((await visitor.send(way, 'sso', {}, { stay: true })).refresh ?? '');
      const back = provider.authorize(url);
      return {
        prompt: url.searchParams.get('prompt'),
        shown: await visitor.open(back.pathname + back.search),
      };
    };
    const first = await arrive((await visitor.authorize(client)).shown);
    expect([first.prompt, first.shown.form('enrol')]).toEqual([null, undefined]);
    const second = await arrive(first.shown);
    expect([second.prompt, second.shown.form('enrol') !== undefined]).toEqual(['login', true]);
  });

  it('is asked for as fresh as the client asks for', async () => {
    const visitor = new PageVisitor(new Browser(bench.identity), ISSUER);
    const { shown } = await visitor.authorize(client, { prompt: 'login', max_age: '60' });
    const way = await visitor.send(shown, 'email', { email: `ana@${connection.domain}` });
    const url = new URL((await visitor.send(way, 'sso', {}, { stay: true })).refresh ?? '');
    expect([url.searchParams.get('prompt'), url.searchParams.get('max_age')]).toEqual(['login', '60']);
    const plain = await visitor.authorize(client);
    const again = await visitor.send(plain.shown, 'email', { email: `ana@${connection.domain}` });
    const other = new URL((await visitor.send(again, 'sso', {}, { stay: true })).refresh ?? '');
    expect([other.searchParams.get('prompt'), other.searchParams.get('max_age')]).toEqual([null, null]);
  });
});
