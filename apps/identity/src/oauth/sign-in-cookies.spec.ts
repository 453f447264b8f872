import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, signsIn, TestClient } from './browser.fixture.js';

const ISSUER = 'https://id.example';

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start({ PUBLIC_URL: ISSUER });
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
});

const aBrowser = () => new Browser(bench, { issuer: ISSUER });
const authorize = () =>
  `/oauth/authorize?${new URLSearchParams(client.request(aChallenge().challenge)).toString()}`;
const names = (browser: Browser) => browser.set.map((line) => line.split('=', 1)[0] ?? '');
const begin = async (browser: Browser) => {
  const { headers } = await browser.get(authorize());
  return new URL(headers.get('location') ?? '', ISSUER).pathname.split('/').at(-1) ?? '';
};

describe('cookies of the provider', () => {
  it('can be set by no other host of the domain, each of them', async () => {
    const browser = aBrowser();
    const tokens = await client.tokens(signsIn(userId), { browser });
    const hint = new URLSearchParams({ id_token_hint: tokens.id_token });
    const page = await (await browser.get(`/oauth/logout?${hint.toString()}`)).text();
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    await browser.submit('/oauth/logout/confirm', { xsrf, logout: 'yes' });
    const kinds = new Set(names(browser).map((name) => name.replace(/-[\w-]{43}$/, '')));
    expect([...kinds].sort()).toEqual(['__Host-interaction', '__Host-resume', '__Host-sign-in']);
    for (const line of browser.set) {
      expect(line).toMatch(/^__Host-/);
      expect(line).toMatch(/; path=\/;/);
      expect(line).toMatch(/; secure; httponly/i);
      expect(line).toMatch(/; samesite=lax/i);
      expect(line).not.toMatch(/domain=/i);
    }
  });

  it('lead two sign-ins in one browser apart, and are gone a minute after one has ended', async () => {
    const browser = aBrowser();
    const uid = await begin(browser);
    const { back } = await client.code(signsIn(userId), { browser });
    expect(back.searchParams.get('code')).not.toBeNull();
    const last = browser.set.slice(-3).filter((line) => !line.startsWith('__Host-sign-in='));
    expect(last.map((line) => line.split('=', 1)[0]).join()).not.toContain(uid);
    expect(last.map((line) => line.replace(/-[\w-]{43}=.*$/, '')).sort()).toEqual([
      '__Host-interaction',
      '__Host-resume',
    ]);
    for (const line of last) {
      const ends = Date.parse(/expires=([^;]*)/i.exec(line)?.[1] ?? '');
      expect(ends).toBeLessThan(Date.now() + 120_000);
    }
  });

  it('of a sign-in do not answer for another one, nor those of other names', async () => {
    const [victim, attacker] = [aBrowser(), aBrowser()];
    const uid = await begin(attacker);
    for (const name of ['resume', '__Secure-resume', `__Secure-resume-${uid}`, '__Host-resume'])
      victim.plant(`${name}=${uid}; path=/`);
    const resumed = await victim.get(`/oauth/authorize/${uid}`);
    // It is asked from the beginning, as by any link to the application, and goes on in nobody's name.
    expect(resumed.headers.get('location')).toMatch(/^\/oauth\/authorize\?/);
    const own = await begin(victim);
    victim.plant(`__Host-resume-${own}=${uid}; path=/`);
    const swapped = await victim.get(`/oauth/authorize/${own}`);
    expect(swapped.headers.get('location') ?? '').not.toContain('code=');
  });

  it('stay few, however many sign-ins a browser leaves', async () => {
    const browser = aBrowser();
    for (let turn = 0; turn < 12; turn += 1) await begin(browser);
    const { length } = browser.sends('/').split('; ');
    expect(length).toBeLessThanOrEqual(18);
    const last = await begin(browser);
    expect(browser.sends('/')).toContain(last);
  });
});
