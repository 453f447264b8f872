import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { ISSUER, signsIn } from './browser.fixture.js';
import { BYE, RelyingParty, type Flow } from './conformance.fixture.js';

let bench: IdentityBench;
let organization: TestOrganization;
let party: RelyingParty;
let flow: Flow;
let hint: string;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  party = await RelyingParty.register(bench, organization);
  ({ userId } = await bench.signedIn(organization));
  flow = await party.flow(signsIn(userId));
  hint = flow.tokens['id_token'] ?? '';
});

/** What the end of the session is asked by: the page, or where it leads after the user has agreed. */
async function signOut(
  parameters: Record<string, string>,
): Promise<{ status: number; location: string | null }> {
  const { browser } = flow;
  const page = await browser.get(`/oauth/logout?${new URLSearchParams(parameters).toString()}`);
  if (page.status !== 200) return { status: page.status, location: page.headers.get('location') };
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? [];
  const { status, headers } = await browser.submit('/oauth/logout/confirm', { xsrf, logout: 'yes' });
  return { status, location: headers.get('location') };
}

async function isSignedOut(): Promise<boolean> {
  const { back } = await party.authorize(signsIn(userId), { prompt: 'none' }, flow.browser);
  return back.searchParams.get('error') === 'login_required';
}

const SUCCESS = `${ISSUER}/oauth/logout/success`;

describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
  it('oidcc-rp-initiated-logout-discovery-endpoint-verification', async () => {
    expect((await party.metadata())['end_session_endpoint']).toBe(`${ISSUER}/oauth/logout`);
  });

  it.each<[string, (given: { hint: string }) => Record<string, string>, string]>([
    [
      'oidcc-rp-initiated-logout',
      (given) => ({ id_token_hint: given.hint, post_logout_redirect_uri: BYE, state: 's' }),
      `${BYE}?state=s`,
    ],
    [
      'oidcc-rp-initiated-logout-no-state',
      (given) => ({ id_token_hint: given.hint, post_logout_redirect_uri: BYE }),
      BYE,
    ],
    // Without a hint nobody knows whose address that is: the user stays here.
    [
      'oidcc-rp-initiated-logout-no-id-token-hint',
      () => ({ post_logout_redirect_uri: BYE, state: 's' }),
      SUCCESS,
    ],
    ['oidcc-rp-initiated-logout-no-params', () => ({}), SUCCESS],
    [
      'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
      (given) => ({ id_token_hint: given.hint, state: 's' }),
      SUCCESS,
    ],
    ['oidcc-rp-initiated-logout-only-state', () => ({ state: 's' }), SUCCESS],
  ])('%s', async (_, parameters, location) => {
    expect(await signOut(parameters({ hint }))).toEqual({ status: 303, location });
    expect(await isSignedOut()).toBe(true);
  });

  it.each<[string, (given: { hint: string }) => Record<string, string>]>([
    [
      'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
      (given) => ({ id_token_hint: given.hint, post_logout_redirect_uri: 'https://evil.example/bye' }),
    ],
    [
      'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
      (given) => ({ id_token_hint: given.hint, post_logout_redirect_uri: `${BYE}?foo=bar` }),
    ],
    [
      'oidcc-rp-initiated-logout-modified-id-token-hint',
      (given) => ({ id_token_hint: altered(given.hint), post_logout_redirect_uri: BYE }),
    ],
    [
      'oidcc-rp-initiated-logout-bad-id-token-hint',
      () => ({ id_token_hint: 'bad', post_logout_redirect_uri: BYE }),
    ],
  ])('%s', async (_, parameters) => {
    expect(await signOut(parameters({ hint }))).toEqual({ status: 400, location: null });
    expect(await isSignedOut()).toBe(false);
  });
});

/** The same but for what it says. */
function altered(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const other = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url');
  return [header, other, signature].join('.');
}
