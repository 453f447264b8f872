import { jest } from '@jest/globals';
import { log } from '@customer-platform/http';
import { DatabaseFault, TcpLink, eventually } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, signsIn, TestClient } from './browser.fixture.js';

const AWAY = '57P03';

describe('the provider while its database is away', () => {
  const wire = new TcpLink();
  let bench: IdentityBench;
  let organization: TestOrganization;
  let client: TestClient;
  let userId: string;
  beforeAll(async () => {
    await wire.open();
    bench = await IdentityBench.start((database) => ({ DATABASE_URL: wire.through(database.url) }));
  });
  afterAll(async () => {
    await bench.end();
    await wire.cut();
  });
  beforeEach(async () => {
    organization = await bench.organization();
    client = await TestClient.register(bench, organization);
    ({ userId } = await bench.signedIn(organization));
  });
  afterEach(() => jest.restoreAllMocks());

  const ofUser = "NEW.user_id = '$user'";
  const fault = (table: string, on: 'INSERT' | 'UPDATE', when: string, times?: number) =>
    DatabaseFault.in(bench.database, {
      table,
      on,
      when: when.replace('$user', userId),
      code: AWAY,
      ...(times === undefined ? {} : { times }),
    });

  it('says 503 and when to come again, in the protocol’s form, and tells the log why', async () => {
    const { refresh_token: token, access_token: access, browser } = await client.tokens(signsIn(userId));
    const told = jest.spyOn(log, 'warn');
    await wire.cut();
    try {
      const refused = await client.refresh(token);
      expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
        503,
        'temporarily_unavailable',
        '1',
      ]);
      expect(told).toHaveBeenCalledWith(
        expect.objectContaining({ route: 'token', err: expect.any(Error) as unknown }),
        'The OAuth provider waits for the database',
      );
      const headers = { authorization: `Bearer ${access}` };
      const info = await fetch(`${bench.app.url}/oauth/userinfo`, { headers });
      expect([info.status, info.headers.get('retry-after')]).toEqual([503, '1']);
      const { challenge } = aChallenge();
      const query = new URLSearchParams(client.request(challenge)).toString();
      expect((await browser.get(`/oauth/authorize?${query}`)).status).toBe(503);
    } finally {
      await wire.open();
    }
    await eventually(async () => expect((await client.refresh(token)).status).toBe(200));
  });

  it('shows whoever is signing in a page that says to try again', async () => {
    const browser = new Browser(bench);
    const { challenge } = aChallenge();
    const query = new URLSearchParams(client.request(challenge)).toString();
    const location = (await browser.get(`/oauth/authorize?${query}`)).headers.get('location') ?? '';
    expect((await browser.get(location)).status).toBe(200);
    await wire.cut();
    try {
      expect((await browser.get(location)).status).toBe(503);
    } finally {
      await wire.open();
    }
    await eventually(async () => expect((await browser.get(location)).status).toBe(200));
  });

  it('says so of what goes wrong when a token is made', async () => {
    const { code, verifier } = await client.code(signsIn(userId));
    const failing = await fault('sessions', 'UPDATE', ofUser);
    try {
      const refused = await client.redeem(code, verifier);
      expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
        503,
        'temporarily_unavailable',
        '1',
      ]);
    } finally {
      await failing.mend();
    }
  });

  it.each([
    ['the code is used up', 'oauth_tokens', 'UPDATE', 'openid offline_access'],
    ['the refresh token is kept', 'oauth_tokens', 'INSERT', 'openid offline_access'],
    ['the session is noted as in use', 'sessions', 'UPDATE', 'openid'],
  ] as const)('takes the code again that was refused when %s', async (_when, table, on, scope) => {
    const { code, verifier } = await client.code(signsIn(userId), { further: { scope } });
    const when = table === 'sessions' ? ofUser : "NEW.payload ->> 'accountId' = '$user'";
    const failing = await fault(table, on, when);
    try {
      expect((await client.redeem(code, verifier)).status).toBe(503);
    } finally {
      await failing.mend();
    }
    const { status, body } = await client.redeem(code, verifier);
    expect([status, typeof body.refresh_token]).toEqual([200, scope === 'openid' ? 'undefined' : 'string']);
    const copy = await client.redeem(code, verifier);
    expect(copy.body.error).toBe('invalid_grant');
    expect(await bench.endings(userId)).toContain('token_reuse');
  });

  it('begins the session once more where its connection broke: the sign-in is not lost', async () => {
    const breaks = await fault('sessions', 'INSERT', ofUser, 1);
    try {
      expect((await client.code(signsIn(userId))).code).not.toBe('');
      expect(await breaks.tries()).toBe(2);
    } finally {
      await breaks.mend();
    }
  });

  it('tells the client where it stays away', async () => {
    const failing = await fault('sessions', 'INSERT', ofUser);
    try {
      const { back } = await client.code(signsIn(userId));
      expect(back.searchParams.get('error')).toBe('temporarily_unavailable');
    } finally {
      await failing.mend();
    }
  });
});
