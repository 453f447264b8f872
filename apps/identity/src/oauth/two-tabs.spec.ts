import { decodeJwt } from 'jose';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Browser, signsIn, TestClient } from './browser.fixture.js';

let bench: IdentityBench;
let client: TestClient;
let organizations: TestOrganization[];
let userId: string;
let browser: Browser;
beforeAll(async () => {
  bench = await IdentityBench.start();
  client = await TestClient.ofRoot(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organizations = await Promise.all([bench.organization(), bench.organization()]);
  ({ userId } = await bench.signedIn(organizations[0] ?? fail()));
  await bench.join(organizations[1]?.id ?? '', userId);
  browser = new Browser(bench);
  await client.tokens(signsIn(userId, organizations[0]?.id), { browser });
});

function fail(): never {
  throw new Error('There is no organization');
}

/** What a tab of an organization asks when it is loaded. */
async function ask({ id }: TestOrganization) {
  const further = { prompt: 'none', organization: id };
  const { code, verifier, back } = await client.code(signsIn(userId), { browser, further });
  if (code === '') throw new Error(back.href);
  return async () => {
    const { body, status } = await client.redeem(code, verifier);
    expect([status, body.error]).toEqual([200, undefined]);
    const { org_id: of, sid } = decodeJwt(body.access_token);
    expect(of).toBe(id);
    return String(sid);
  };
}
const load = async (organization: TestOrganization) => (await ask(organization))();

describe('tabs of two organizations in one browser', () => {
  it('are signed in however they are loaded: both at once, and one after the other', async () => {
    for (let times = 0; times < 4; times += 1) await Promise.all(organizations.map(load));
    for (const organization of [...organizations, ...organizations]) await load(organization);
  });

  it('are given what they asked for, though the other has asked since', async () => {
    const redeems = [];
    for (const organization of organizations) redeems.push(await ask(organization));
    for (const redeem of redeems) await redeem();
  });

  it('go on with the session that each has, and begin no other', async () => {
    const load2 = async () => {
      const sids: string[] = [];
      for (const organization of organizations) sids.push(await load(organization));
      return sids;
    };
    const before = await load2();
    expect(await load2()).toEqual(before);
  });

  it('are all signed out by signing out in one', async () => {
    const further = { prompt: 'none', organization: organizations[1]?.id ?? '' };
    const { code, verifier } = await client.code(signsIn(userId), { browser, further });
    await load(organizations[0] ?? fail());
    const page = await (await browser.get('/oauth/logout')).text();
    const [, xsrf = ''] = /name="xsrf" value="(\w+)"/.exec(page) ?? [];
    expect((await browser.submit('/oauth/logout/confirm', { xsrf, logout: 'yes' })).status).toBe(303);
    expect((await client.redeem(code, verifier)).body.error).toBe('invalid_grant');
    expect(await bench.endings(userId)).toEqual(expect.arrayContaining(['logout', 'logout']));
  });
});
