import { newId } from '@customer-platform/database';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aChallenge, Browser, TestClient } from './browser.fixture.js';

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

/** Behind what is right, U+0000; half of a surrogate pair, which is no UTF-8; and other bytes that are none. */
const UNSTORABLE = ['%00', 'a%00b', '%ED%A0%80', '%FF'];

const AUTHORIZE = ['state', 'nonce', 'login_hint', 'ui_locales', 'organization', 'acr_values', 'display'];
const MORE = ['claims', 'claims_locales', 'max_age', 'prompt', 'scope', 'response_mode', 'id_token_hint'];
const WHO = ['client_id', 'redirect_uri', 'response_type', 'code_challenge', 'code_challenge_method', 'any'];
const LOGOUT = [
  'state',
  'client_id',
  'id_token_hint',
  'logout_hint',
  'ui_locales',
  'post_logout_redirect_uri',
];

const authorize = (name: string): string => {
  const asked = client.request(aChallenge().challenge);
  return new URLSearchParams(Object.entries(asked).filter(([key]) => key !== name)).toString();
};

describe('a parameter of a sign-in that no database takes', () => {
  it.each([...AUTHORIZE, ...MORE, ...WHO])('at authorize: %s', async (name) => {
    for (const value of UNSTORABLE) {
      const { status, headers } = await new Browser(bench).get(
        `/oauth/authorize?${authorize(name)}&${name}=${value}`,
      );
      const isRefused = value.includes('%00') ? status === 400 : status < 500;
      expect([value, isRefused, status]).toEqual([value, true, status]);
      expect(headers.getSetCookie().filter(() => status === 400)).toEqual([]);
    }
  });

  it.each(LOGOUT)('at logout: %s', async (name) => {
    for (const value of UNSTORABLE) {
      const { status } = await new Browser(bench).get(`/oauth/logout?${name}=${value}`);
      const isRefused = value.includes('%00') ? status === 400 : status < 500;
      expect([value, isRefused, status]).toEqual([value, true, status]);
    }
  });

  it.each([
    [`/oauth/authorize/${newId()}?any=`],
    ['/oauth/logout/success?client_id='],
    ['/oauth/userinfo?access_token='],
  ])('at %s', async (path) => {
    for (const value of UNSTORABLE)
      expect((await new Browser(bench).get(path + value)).status).toBeLessThan(500);
    expect((await new Browser(bench).get(`${path}%00`)).status).toBe(400);
  });

  it.each([
    ['/oauth/password-reset?token='],
    ['/oauth/password-reset/request?ui_locales='],
    [`/oauth/sso/callback/${newId()}?state=`],
    [`/oauth/sso/callback/${newId()}?state=x&code=`],
    [`/oauth/interactions/${newId()}?any=`],
    ['/oauth/interactions/'],
    ['/oauth/authorize/'],
    ['/oauth/sso/callback/'],
  ])('is no failure of ours at %s', async (path) => {
    for (const value of UNSTORABLE) {
      const { status } = await new Browser(bench).get(path + value);
      expect([value, status < 500, status]).toEqual([value, true, status]);
    }
  });

  it.each([
    ['/oauth/token', ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id', 'client_secret']],
    ['/oauth/token', ['refresh_token', 'scope', 'any']],
    ['/oauth/revoke', ['token', 'token_type_hint']],
    ['/oauth/introspect', ['token', 'token_type_hint']],
    ['/oauth/userinfo', ['access_token']],
    ['/oauth/logout/confirm', ['xsrf', 'logout']],
  ])('is no failure of ours in a form to %s, %j', async (path, names) => {
    for (const grant_type of ['authorization_code', 'refresh_token', 'client_credentials'])
      for (const name of names)
        for (const text of ['\0', 'a\0b']) {
          const { status } = await client.post(path, {
            grant_type,
            code: 'x',
            refresh_token: 'x',
            [name]: text,
          });
          expect([name, status < 500, status]).toEqual([name, true, status]);
        }
  });

  it.each(['\0', 'a\0b', '%00', 'a%00b', '\ud800', '%FF'])(
    'is nobody at the token endpoint, in the form and by Basic: %j',
    async (text) => {
      const { id, registered } = client;
      const secret = registered.client_secret ?? '';
      const form = { grant_type: 'refresh_token', refresh_token: 'x' };
      const ask = async (fields: Record<string, string>, basic?: string) => {
        const authorization = `Basic ${Buffer.from(basic ?? '').toString('base64')}`;
        const headers = basic === undefined ? {} : { authorization };
        const body = new URLSearchParams({ ...form, ...fields });
        const answer = await fetch(`${bench.app.url}/oauth/token`, { method: 'POST', headers, body });
        return [answer.status, ((await answer.json()) as { error?: string }).error];
      };
      for (const [fields, basic] of [
        [{ client_id: text, client_secret: secret }],
        [{ client_id: id + text, client_secret: secret }],
        [{ client_id: id, client_secret: text }],
        [{}, `${text}:${secret}`],
        [{}, `${id}${text}:${secret}`],
        [{}, `${id}:${text}`],
        [{}, `${id}:${secret}${text}`],
      ] as const) {
        const [status, error] = await ask(fields, basic);
        expect([400, 401]).toContain(status);
        expect(['invalid_client', 'invalid_request']).toContain(error);
      }
      // The client is there, and what it asked for is all that is wrong.
      expect(await ask({}, `${id}:${secret}`)).toEqual([400, 'invalid_grant']);
    },
  );

  it('is told as the protocol tells it, to a browser by a page and to a program as JSON', async () => {
    const path = `/oauth/authorize?${authorize('state')}&state=%00`;
    const page = await new Browser(bench).get(path);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain('invalid_request: state');
    const program = await fetch(bench.app.url + path, { headers: { accept: 'application/json' } });
    expect([program.status, await program.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'state holds a character that no text may' },
    ]);
  });

  it('is refused in a form that becomes an address alike', async () => {
    const asked = client.request(aChallenge().challenge, { state: 'a\0b' });
    const answer = await new Browser(bench).submit('/oauth/authorize', asked);
    expect([answer.status, answer.headers.get('location')?.includes('%00')]).toEqual([303, true]);
    const { pathname, search } = new URL(answer.headers.get('location') ?? '', 'http://here');
    expect((await new Browser(bench).get(pathname + search)).status).toBe(400);
  });
});
