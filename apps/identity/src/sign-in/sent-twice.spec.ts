import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { Browser, ISSUER, TestClient } from '../oauth/browser.fixture.js';
import { codeOf, PageVisitor, PASSWORD, People, type Person, type Shown } from './page-visitor.fixture.js';

let bench: IdentityBench;
let people: People;
let organization: TestOrganization;
let client: TestClient;
let person: Person;
let visitor: PageVisitor;
beforeAll(async () => {
  bench = await IdentityBench.start();
  people = new People(bench);
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
  person = await people.person(organization);
  visitor = new PageVisitor(new Browser(bench), ISSUER);
});

const failures = async (): Promise<number> => {
  const sql = 'SELECT count(*)::int AS count FROM mfa_failures WHERE user_id = $1';
  return (await bench.database.query<{ count: number }>(sql, [person.userId]))[0]?.count ?? -1;
};
const codeIn = ({ url, html }: Shown): string => {
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`No code: ${url.href} ${html}`);
  return code;
};
/** The page by which the browser leaves. */
const leaving = async () => {
  const { verifier, shown } = await visitor.authorize(client);
  return { verifier, page: await visitor.signIn(shown, person, { stay: true }) };
};

describe('a one-time code', () => {
  it.each(['factor', 'recovery'])('sent twice leads to the same and counts nothing: %s', async (step) => {
    const { secret, recoveryCodes } = await people.factorFor(organization, person);
    const { verifier, shown } = await visitor.authorize(client);
    let page = await visitor.signIn(shown, person);
    if (step === 'recovery') page = await visitor.send(page, 'use-recovery');
    const code = step === 'recovery' ? (recoveryCodes[0] ?? '') : codeOf(secret);
    const send = (by: PageVisitor) => by.send(page, step, { code }, { stay: true });
    const another = new PageVisitor(visitor.browser.copy(), ISSUER);
    const pages = [
      ...(await Promise.all([send(visitor), send(another), send(visitor)])),
      await send(visitor),
    ];
    expect(pages.map(({ status, refresh }) => [status, refresh?.includes('/oauth/authorize/')])).toEqual(
      pages.map(() => [200, true]),
    );
    expect(await failures()).toBe(0);
    const back = await visitor.open(pages[0]?.refresh ?? '');
    expect((await client.redeem(codeIn(back), verifier)).status).toBe(200);
  });

  it('of a sign-in is none for another', async () => {
    const { secret } = await people.factorFor(organization, person);
    const [first, second] = [visitor, new PageVisitor(new Browser(bench), ISSUER)];
    const code = codeOf(secret);
    const page = await first.signIn((await first.authorize(client)).shown, person);
    expect((await first.send(page, 'factor', { code })).url.searchParams.get('code')).not.toBeNull();
    const other = await second.signIn((await second.authorize(client)).shown, person);
    expect((await second.send(other, 'factor', { code })).status).toBe(422);
    expect(await failures()).toBe(1);
  });
});

describe('the way out of the pages', () => {
  it('leads to the application again, whether the first answer came or not', async () => {
    const { verifier, page } = await leaving();
    const lost = new PageVisitor(visitor.browser.copy(), ISSUER);
    await lost.open(page.refresh ?? '');
    const first = await visitor.open(page.refresh ?? '');
    const again = await visitor.open(page.refresh ?? '');
    expect(codeIn(again)).not.toBe(codeIn(first));
    expect((await client.redeem(codeIn(again), verifier)).status).toBe(200);
    expect((await client.redeem(codeIn(first), verifier)).status).toBe(200);
  });

  it('is what each page of a sign-in shows that is over', async () => {
    const { page } = await leaving();
    const { pathname } = page.url;
    expect((await visitor.open(pathname, { stay: true })).refresh).toBe(page.refresh);
    await visitor.open(page.refresh ?? '');
    codeIn(await visitor.open(pathname));
  });

  it('leads to a sign-in where the user has signed out since', async () => {
    const { page } = await leaving();
    codeIn(await visitor.open(page.refresh ?? ''));
    const asked = await visitor.open('/oauth/logout');
    const form = asked.forms[0];
    await visitor.browser.submit('/oauth/logout/confirm', { ...form?.fields, logout: 'yes' });
    const again = await visitor.open(page.refresh ?? '');
    expect([again.status, again.form('email') === undefined]).toEqual([200, false]);
  });

  it('begins anew where it is long over', async () => {
    const { page } = await leaving();
    const elsewhere = new PageVisitor(new Browser(bench), ISSUER);
    const shown = await elsewhere.open(page.refresh ?? '');
    expect([shown.status, shown.form('email') === undefined]).toEqual([200, false]);
    const copied = await elsewhere.open(page.url.pathname);
    expect(copied.status).toBe(404);
    const anew = await elsewhere.open(
      copied.links.find((link) => link.startsWith('/oauth/authorize?')) ?? '',
    );
    expect(anew.form('email')).toBeDefined();
  });
});

describe('the address of a sign-in', () => {
  const uidOf = ({ url }: Shown): string => url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  /** A browser that knows it, and nothing else. */
  const openedBy = async (uid: string): Promise<Shown> => {
    const stranger = new PageVisitor(new Browser(bench), ISSUER);
    for (const name of ['resume', 'interaction']) stranger.browser.plant(`${name}-${uid}=${uid}; path=/`);
    return stranger.open(`/oauth/authorize/${uid}`);
  };
  const OF_UID = `(uid = $1 OR state_hash = sha256(convert_to($1, 'UTF8')))`;
  const kept = async (uid: string) => {
    const sql = `SELECT payload, extract(epoch FROM expires_at - now())::int AS seconds FROM oauth_browser_states
      WHERE ${OF_UID} ORDER BY expires_at`;
    return bench.database.query<{ payload: object; seconds: number }>(sql, [uid]);
  };

  it('signs nobody in by itself, neither before its end nor after', async () => {
    const { verifier, page } = await leaving();
    const isAsked = async () => (await openedBy(uidOf(page))).form('email') !== undefined;
    expect(await isAsked()).toBe(true);
    const back = await visitor.open(page.refresh ?? '');
    expect(await isAsked()).toBe(true);
    expect((await client.redeem(codeIn(back), verifier)).status).toBe(200);
  });

  it('is of use for a minute after that, and then all that is kept is where it begins anew', async () => {
    const { page } = await leaving();
    const before = visitor.browser.copy();
    codeIn(await visitor.open(page.refresh ?? ''));
    const [ended, again, ...more] = await kept(uidOf(page));
    expect([ended?.seconds, more]).toEqual([expect.any(Number), []]);
    expect(ended?.seconds).toBeLessThanOrEqual(60);
    expect(Object.keys(again?.payload ?? {})).toEqual(['params']);
    const sql = `UPDATE oauth_browser_states SET expires_at = expires_at - interval '1 minute' WHERE ${OF_UID}`;
    await bench.database.query(sql, [uidOf(page)]);
    visitor.browser.become(before);
    expect((await visitor.open(page.refresh ?? '')).form('email')).toBeDefined();
  });

  it('keeps nothing of what came to nothing, which nobody counts', async () => {
    const { shown } = await visitor.authorize(client);
    await visitor.send(shown, 'cancel');
    const { shown: left } = await visitor.authorize(client);
    await visitor.browser.get(`/oauth/authorize/${uidOf(left)}`);
    expect([await kept(uidOf(shown)), await kept(uidOf(left))]).toEqual([[], []]);
  });

  it('leads on where the form was sent twice by which somebody has authenticated', async () => {
    const { shown } = await visitor.authorize(client);
    const asked = await visitor.send(shown, 'email', { email: person.email });
    const before = visitor.browser.copy();
    const send = () =>
      visitor.send(asked, 'password', { email: person.email, password: PASSWORD }, { stay: true });
    await send();
    visitor.browser.become(before);
    codeIn(await visitor.open((await send()).refresh ?? ''));
  });
});

describe('signing out', () => {
  it('twice leads to where it led', async () => {
    codeIn(await visitor.open((await leaving()).page.refresh ?? ''));
    const after = 'https://app.example/bye';
    const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: after, state: 's' });
    const asked = await visitor.open(`/oauth/logout?${query.toString()}`);
    const fields = Object.fromEntries(
      [...asked.html.matchAll(/<input\s[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')],
      ),
    );
    const send = async (by: PageVisitor) => {
      let response = await by.browser.submit('/oauth/logout/confirm', { ...fields, logout: 'yes' });
      for (let hop = 0; hop < 3; hop += 1) {
        const to = response.headers.get('location') ?? '';
        if (!to.startsWith('/') && !to.startsWith(ISSUER)) return to;
        response = await by.browser.get(new URL(to, ISSUER).pathname + new URL(to, ISSUER).search);
      }
      return `${String(response.status)} ${await response.text()}`;
    };
    expect(await send(visitor)).toBe(`${after}?state=s`);
    expect(await send(visitor)).toBe(`${after}?state=s`);
  });
});

describe('two tabs at sign-in', () => {
  it('both end signed in, whichever is ahead', async () => {
    const { secret } = await people.factorFor(organization, person);
    const [one, two] = [await visitor.authorize(client), await visitor.authorize(client)];
    const atFactor = await visitor.signIn(one.shown, person);
    const atFactorToo = await visitor.signIn(two.shown, person);
    const first = await visitor.send(atFactor, 'factor', { code: codeOf(secret) });
    expect((await client.redeem(codeIn(first), one.verifier)).status).toBe(200);
    await bench.database.query('UPDATE mfa_factors SET last_step = NULL WHERE user_id = $1', [person.userId]);
    const second = await visitor.send(atFactorToo, 'factor', { code: codeOf(secret) });
    expect((await client.redeem(codeIn(second), two.verifier)).status).toBe(200);
  });

  it('a page loaded anew goes on where it was', async () => {
    await people.factorFor(organization, person);
    const { shown } = await visitor.authorize(client);
    const atFactor = await visitor.signIn(shown, person);
    expect((await visitor.open(atFactor.url.pathname)).form('factor')).toBeDefined();
  });
});
