import { expectStatus } from '@customer-platform/testing';
import type { TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, TestClient } from '../oauth/browser.fixture.js';
import { PageVisitor, People } from './page-visitor.fixture.js';
import { codeOf, SignInBench, type Visitor } from './sign-in-bench.fixture.js';

let bench: SignInBench;
let organization: TestOrganization;
let visitor: Visitor;
beforeAll(async () => {
  bench = await SignInBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.identity.organization();
  visitor = await bench.browser();
});
afterEach(() => visitor.context.close());

const demandFactors = async (): Promise<void> => {
  const path = `/v1/identity/organizations/${organization.id}`;
  expectStatus(await organization.admin.patch(path, { settings: { mfa_policy: 'required' } }), 200);
};
const secretOf = async ({ page }: Visitor): Promise<string> =>
  (await page.locator('code').innerText()).replaceAll(' ', '');
const count = async (table: 'mfa_factors' | 'mfa_failures', userId: string): Promise<number> => {
  const [row] = await bench.identity.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE user_id = $1`,
    [userId],
  );
  return row?.count ?? 0;
};

describe('who is asked for a factor at sign-in', () => {
  it('are owners, and nobody else, where the policy says so', async () => {
    const path = `/v1/identity/organizations/${organization.id}`;
    expectStatus(await organization.admin.patch(path, { settings: { mfa_policy: 'owners' } }), 200);
    const people = new People(bench.identity);
    const client = await TestClient.register(bench.identity, organization);
    const shownTo = async (role: string) => {
      const person = await people.person(organization, { isMember: false });
      await bench.identity.member(organization, person.userId, role);
      const somebody = new PageVisitor(new Browser(bench.identity, { issuer: bench.origin }), bench.origin);
      const { shown } = await somebody.authorize(client);
      return somebody.signIn(shown, person);
    };
    const [owner, admin] = [await shownTo('owner'), await shownTo('admin')];
    expect([owner.form('enrol') !== undefined, admin.url.searchParams.has('code')]).toEqual([true, true]);
  });
});

describe('setting a factor up while signing in', () => {
  it('shows recovery codes that work however often its form is sent, and makes one factor', async () => {
    const client = await bench.client(organization);
    const { userId, email } = await bench.member(organization);
    await demandFactors();
    const { url, verifier } = bench.request(client);
    await visitor.page.goto(url);
    await visitor.signIn(email);
    const code = codeOf(await secretOf(visitor));
    const { action, token } = await visitor.form();
    const headers = { cookie: await visitor.cookieHeader() };
    const body = { step: 'enrol', token, code };
    const send = () =>
      fetch(bench.origin + action, { method: 'POST', headers, body: new URLSearchParams(body) });
    const pages = await Promise.all([send(), send(), send()]);
    for (const page of pages)
      expect([page.status, (await page.text()).includes('class="codes"')]).toEqual([200, true]);
    await visitor.typeIn('Código de 6 dígitos', code, 'Confirmar');
    const codes = await visitor.page.locator('.codes li').allInnerTexts();
    expect([codes.length, await count('mfa_factors', userId), await count('mfa_failures', userId)]).toEqual([
      10, 1, 0,
    ]);
    await visitor.press('Ya los guardé');
    expect((await visitor.claims(client, verifier))['amr']).toEqual(['mfa', 'otp', 'pwd']);
    const another = await bench.browser();
    await another.page.goto(bench.request(client).url);
    await another.signIn(email);
    await another.press('Usar un código de recuperación');
    await another.typeIn('Código de recuperación', codes[0] ?? '', 'Verificar');
    expect((await another.back()).get('code')).not.toBeNull();
    await another.context.close();
  });

  it('asks for the factor instead where one was confirmed elsewhere meanwhile, and counts nothing as wrong', async () => {
    const client = await bench.client(organization);
    const { userId, email } = await bench.member(organization);
    await visitor.page.goto(bench.request(client).url);
    await visitor.signIn(email);
    await visitor.back();
    await demandFactors();
    const another = await bench.client(organization);
    const { url, verifier } = bench.request(another);
    await visitor.page.goto(url);
    const code = codeOf(await secretOf(visitor));
    const { recoveryCodes } = await bench.factorFor(organization, userId);
    await visitor.typeIn('Código de 6 dígitos', code, 'Confirmar');
    await visitor.press('Usar un código de recuperación');
    await visitor.typeIn('Código de recuperación', recoveryCodes[0] ?? '', 'Verificar');
    expect((await visitor.claims(another, verifier))['amr']).toEqual(['mfa', 'pwd']);
    expect(await count('mfa_failures', userId)).toBe(0);
  });

  it('is begun a sixth time after five that nobody ended', async () => {
    const client = await bench.client(organization);
    const { userId, email } = await bench.member(organization);
    await demandFactors();
    for (let times = 0; times < 6; times += 1) {
      await visitor.context.clearCookies();
      await visitor.page.goto(bench.request(client).url);
      await visitor.signIn(email);
    }
    await visitor.typeIn('Código de 6 dígitos', codeOf(await secretOf(visitor)), 'Confirmar');
    expect(await visitor.page.locator('.codes li').count()).toBe(10);
    expect(await count('mfa_failures', userId)).toBe(0);
  });

  it('leaves the browser trusted in which it was done', async () => {
    const { email } = await bench.member(organization);
    await visitor.page.goto(bench.request(await bench.client(organization)).url);
    await visitor.signIn(email);
    await visitor.back();
    await demandFactors();
    const client = await bench.client(organization);
    await visitor.page.goto(bench.request(client).url);
    await visitor.typeIn('Código de 6 dígitos', codeOf(await secretOf(visitor)), 'Confirmar');
    await visitor.press('Ya los guardé');
    await visitor.back();
    await visitor.page.goto(bench.request(client, { prompt: 'none' }).url);
    expect((await visitor.back()).get('error')).toBeNull();
  });

  it('begins with an authentication of the last ten minutes: one in a browser that was left open sets none up', async () => {
    const people = new People(bench.identity);
    const person = await people.person(organization);
    const client = () => TestClient.register(bench.identity, organization);
    const [first, second, third] = [await client(), await client(), await client()];
    const signedIn = async (minutes: number) => {
      const { userId } = person;
      const authenticatedAt = new Date(Date.now() - minutes * 60_000);
      const browser = new Browser(bench.identity, { issuer: bench.origin });
      await browser.authorize(first.request(aChallenge().challenge), () => ({
        signedIn: { userId, amr: ['pwd'], authenticatedAt },
      }));
      return new PageVisitor(browser, bench.origin);
    };
    const [lately, before] = [await signedIn(5), await signedIn(11)];
    await demandFactors();
    expect((await lately.authorize(second)).shown.form('enrol')).toBeDefined();
    const { shown } = await before.authorize(second);
    expect([shown.form('enrol'), shown.form('email') !== undefined]).toEqual([undefined, true]);
    // Nor does the page of it, called up once more or for another client.
    expect((await before.open(shown.url.href)).form('enrol')).toBeUndefined();
    expect((await before.authorize(third)).shown.form('enrol')).toBeUndefined();
    expect((await before.signIn(shown, person)).form('enrol')).toBeDefined();
  });
});
