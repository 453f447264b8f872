import { Caller, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { Secret, TOTP } from 'otpauth';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { NEW_PASSWORD, Resets } from '../password-resets/password-resets.fixture.js';
import { PageVisitor, People } from '../sign-in/page-visitor.fixture.js';
import { Browser, ISSUER, signsIn, TestClient } from './browser.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization);
});

type SignedIn = Awaited<ReturnType<TestClient['tokens']>>;

/** What a browser is told that asks for no question. */
async function quietly(who: TestClient, { browser }: Pick<SignedIn, 'browser'>, userId: string) {
  const { back } = await who.code(signsIn(userId), { browser, further: { prompt: 'none' } });
  return back.searchParams.get('error') ?? 'a code';
}
/** Whether the user is asked who they are. */
async function isAsked(who: TestClient, { browser }: Pick<SignedIn, 'browser'>, userId: string) {
  const prompts: string[] = [];
  await who.code(
    (interaction) => {
      prompts.push(interaction.prompt);
      return signsIn(userId)(interaction);
    },
    { browser },
  );
  return prompts.includes('login');
}

describe('a browser in which somebody has signed in', () => {
  it('asks again once the password was replaced, with any client, and gives its codes no worth', async () => {
    const resets = new Resets(bench);
    const person = await resets.person(organization);
    const [first, second] = [
      await client.tokens(signsIn(person.id)),
      await client.tokens(signsIn(person.id)),
    ];
    const { code, verifier } = await client.code(signsIn(person.id), { browser: first.browser });
    expect(await quietly(client, first, person.id)).toBe('a code');
    const token = await resets.token(person);
    expectStatus(await resets.confirm(token, NEW_PASSWORD), 200);
    const another = await TestClient.register(bench, organization);
    for (const signedIn of [first, second]) {
      expect(await quietly(client, signedIn, person.id)).toBe('login_required');
      expect(await quietly(another, signedIn, person.id)).toBe('login_required');
    }
    expect((await client.redeem(code, verifier)).body.error).toBe('invalid_grant');
    expect((await client.refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    expect(await isAsked(another, second, person.id)).toBe(true);
  });

  it('asks again where the factor that was given was taken away before the way back', async () => {
    const { userId } = await bench.signedIn(organization);
    const given = [['pwd', 'otp', 'mfa'], ['pwd']];
    const { code, verifier } = await client.code(() => ({
      signedIn: { userId, amr: given.shift() ?? [], authenticatedAt: new Date() },
    }));
    expect(given).toEqual([]);
    const { access_token: token } = (await client.redeem(code, verifier)).body;
    expect(decodeJwt(token)).toMatchObject({ sub: userId, amr: ['pwd'] });
  });

  it('asks again once its user has ended all sessions from elsewhere', async () => {
    const { userId, caller } = await bench.signedIn(organization);
    const another = await TestClient.register(bench, organization);
    const first = await client.tokens(signsIn(userId));
    const second = await another.tokens(signsIn(userId), { browser: first.browser });
    for (const { access_token: token } of [first, second]) {
      const path = `/v1/identity/sessions/${String(decodeJwt(token)['sid'])}`;
      expectStatus(await caller.delete(path), 204);
    }
    expect(await quietly(client, first, userId)).toBe('login_required');
    expect(await quietly(another, first, userId)).toBe('login_required');
    expect(await isAsked(client, first, userId)).toBe(true);
  });

  it('asks again once one of its sessions was ended from elsewhere, though others go on', async () => {
    const { userId, caller } = await bench.signedIn(organization);
    const another = await TestClient.register(bench, organization);
    const first = await client.tokens(signsIn(userId));
    await another.tokens(signsIn(userId), { browser: first.browser });
    const path = `/v1/identity/sessions/${String(decodeJwt(first.access_token)['sid'])}`;
    expectStatus(await caller.delete(path), 204);
    expect(await quietly(another, first, userId)).toBe('login_required');
  });

  it('asks again once a copy of a code or of a refresh token was used', async () => {
    const { userId } = await bench.signedIn(organization);
    const first = await client.tokens(signsIn(userId));
    await client.refresh(first.refresh_token);
    await client.refresh(first.refresh_token);
    expect(await quietly(client, first, userId)).toBe('login_required');
    expect(await isAsked(client, first, userId)).toBe(true);
  });

  it('asks again by a way out that was taken before a factor was set up elsewhere', async () => {
    const people = new People(bench);
    const person = await people.person(organization);
    const visitor = new PageVisitor(new Browser(bench), ISSUER);
    const { shown } = await visitor.authorize(client);
    const { refresh = '' } = await visitor.signIn(shown, person, { stay: true });
    const before = visitor.browser.copy();
    expect((await visitor.open(refresh)).url.searchParams.get('code')).not.toBeNull();
    await people.factorFor(organization, person);
    visitor.browser.become(before);
    expect((await visitor.open(refresh)).form('email')).toBeDefined();
  });

  it('goes on where its user set a factor up there, and asks again everywhere else', async () => {
    const { userId } = await bench.signedIn(organization);
    const own = await TestClient.ofRoot(bench);
    const first = await own.tokens(signsIn(userId));
    await client.tokens(signsIn(userId), { browser: first.browser });
    const elsewhere = await client.tokens(signsIn(userId));
    const caller = new Caller(bench.app.url, first.access_token, () => true);
    const body = { type: 'totp', name: 'Phone' };
    const begun = await caller.post<{ factor_id: string; secret: string }>('/v1/identity/mfa/enroll', body);
    expectStatus(begun, 200);
    const { factor_id, secret } = begun.body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expectStatus(await caller.post('/v1/identity/mfa/verify', { factor_id, code }), 200);
    expect(await quietly(own, first, userId)).toBe('a code');
    expect(await quietly(client, first, userId)).toBe('a code');
    expect(await quietly(client, elsewhere, userId)).toBe('login_required');
  });
});
