import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, CALLBACK, ISSUER, signsIn, TestClient } from './browser.fixture.js';

const BYE = 'https://app.example/bye';

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
});

const rows = async () => {
  const [{ count } = { count: 0 }] = await bench.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM oauth_browser_states',
  );
  return count;
};
const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
const authorize = (further: Record<string, string> = {}) =>
  `/oauth/authorize?${query(client.request(aChallenge().challenge, further))}`;

describe('who has not signed in', () => {
  it('signs out at once, where the client says, and nothing is written down', async () => {
    const before = await rows();
    const anybody = new Browser(bench);
    const { id_token: hint } = await client.tokens(signsIn(userId));
    const known = await rows();
    for (const [asked, location] of [
      [{}, '/oauth/logout/success'],
      [{ client_id: client.id, post_logout_redirect_uri: BYE, state: 'a b' }, `${BYE}?state=a+b`],
      [{ id_token_hint: hint, post_logout_redirect_uri: BYE }, BYE],
      // Nobody has said who sends the browser on.
      [{ post_logout_redirect_uri: BYE }, '/oauth/logout/success'],
    ] as const) {
      const { status, headers } = await anybody.get(`/oauth/logout?${query({ ...asked })}`);
      expect([status, headers.get('location')]).toEqual([303, location]);
    }
    expect((await anybody.get('/oauth/logout/success')).status).toBe(200);
    const evil = { client_id: client.id, post_logout_redirect_uri: 'https://evil.example/' };
    const refused = await anybody.get(`/oauth/logout?${query(evil)}`);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    expect(anybody.set).toEqual([]);
    expect([await rows(), known > before]).toEqual([known, true]);
  });

  it('leaves nothing by a cookie that nobody knows', async () => {
    const before = await rows();
    const anybody = new Browser(bench);
    anybody.plant('sign-in=nobody-knows-it; path=/');
    await anybody.get(authorize({ prompt: 'none' }));
    await anybody.get(authorize({ response_type: 'token' }));
    await anybody.get('/oauth/authorize');
    await anybody.get('/oauth/logout');
    expect([await rows(), anybody.set]).toEqual([before, []]);
    // With it somebody signs in under another one.
    await client.code(signsIn(userId), { browser: anybody });
    expect(anybody.set.join()).not.toContain('nobody-knows-it');
  });

  it.each(['203.0.113.', '2001:db8:5:5::'])(
    'begins so many sign-ins from one network %s, whatever its address there',
    async (prefix) => {
      const network = prefix.includes(':') ? '2001:db8:5:5::/64' : `${prefix}9`;
      const from = prefix.includes(':') ? `${prefix}77` : `${prefix}9`;
      await bench.database.query(
        `INSERT INTO oauth_browser_states (state_hash, kind, payload, expires_at, network)
         SELECT sha256((gen_random_uuid())::text::bytea), 'Interaction', '{}', now() + interval '1 hour', $1
           FROM generate_series(1, 299)`,
        [network],
      );
      expect((await new Browser(bench, { from }).get(authorize())).status).toBe(303);
      const before = await rows();
      const refused = await new Browser(bench, { from }).get(authorize());
      expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('location')]).toEqual([
        429,
        '60',
        null,
      ]);
      expect(await refused.text()).toContain('temporarily_unavailable');
      expect(await rows()).toBe(before);
      // Others, and what needs no sign-in, go on.
      expect((await new Browser(bench, { from: '198.51.100.1' }).get(authorize())).status).toBe(303);
      const quiet = await new Browser(bench, { from }).get(authorize({ prompt: 'none' }));
      expect(quiet.headers.get('location')).toContain('login_required');
      // A while later they do not count any more.
      await bench.database.query(
        `UPDATE oauth_browser_states SET expires_at = expires_at - interval '11 minutes' WHERE network = $1`,
        [network],
      );
      expect((await new Browser(bench, { from }).get(authorize())).status).toBe(303);
    },
  );

  it('begins sixteen times as many from the networks of an IPv6 /48', async () => {
    await bench.database.query(
      `INSERT INTO oauth_browser_states (state_hash, kind, payload, expires_at, network, site)
       SELECT sha256((gen_random_uuid())::text::bytea), 'Interaction', '{}', now() + interval '1 hour',
              '2001:db8:7:' || to_hex(number) || '::/64', '2001:db8:7::/48'
         FROM generate_series(1, 4799) AS series (number)`,
    );
    const last = await new Browser(bench, { from: '2001:db8:7:f001::1' }).get(authorize());
    const refused = await new Browser(bench, { from: '2001:db8:7:f002::1' }).get(authorize());
    const other = await new Browser(bench, { from: '2001:db8:8:f002::1' }).get(authorize());
    expect([last.status, refused.status, other.status]).toEqual([303, 429, 303]);
  });

  it('does not count who has ended a sign-in', async () => {
    const from = '203.0.113.200';
    for (let turn = 0; turn < 3; turn += 1) {
      const { back } = await client.code(signsIn(userId), { browser: new Browser(bench, { from }) });
      expect(back.searchParams.get('code')).not.toBeNull();
    }
    const left = await bench.database.query('SELECT FROM oauth_browser_states WHERE network = $1', [from]);
    expect(left).toEqual([]);
  });

  it.each([
    ['state', 2_048],
    ['nonce', 512],
    ['login_hint', 512],
    ['ui_locales', 512],
    ['organization', 512],
    ['acr_values', 512],
  ])('says %s in %i characters at most', async (name, most) => {
    const text = `openid ${'x'.repeat(most)}`;
    expect(
      (await new Browser(bench).get(authorize({ [name]: text.slice(0, most) }))).headers.get('location'),
    ).toContain('/oauth/interactions/');
    const before = await rows();
    const refused = await new Browser(bench).get(authorize({ [name]: text.slice(0, most + 1) }));
    const location = new URL(refused.headers.get('location') ?? '');
    expect([location.origin + location.pathname, location.searchParams.get('error')]).toEqual([
      CALLBACK,
      'invalid_request',
    ]);
    expect(location.searchParams.get('error_description')).toContain(name);
    expect(await rows()).toBe(before);
  });
});

describe('a question mark in the query', () => {
  it('is part of it', async () => {
    const { challenge } = aChallenge();
    const path = `/oauth/authorize?${query(client.request(challenge, { state: '' }))}`;
    const browser = new Browser(bench);
    const back = await browser.authorize({ ...client.request(challenge), state: 'x' }, signsIn(userId));
    expect(back.searchParams.get('code')).not.toBeNull();
    // Written as it is, as the grammar of URIs allows.
    const response = await browser.get(`${path.replace('&state=', '')}&state=a?b&prompt=none`);
    const answer = new URL(response.headers.get('location') ?? '', ISSUER);
    expect(answer.searchParams.get('state')).toBe('a?b');
    const { scope } = (await client.redeem(answer.searchParams.get('code') ?? '', 'x')).body;
    expect(scope).toBeUndefined();
    const again = await browser.get(`${path.replace('&state=', '')}&state=a?b`);
    expect(new URL(again.headers.get('location') ?? '', ISSUER).searchParams.get('state')).toBe('a?b');
  });
});
