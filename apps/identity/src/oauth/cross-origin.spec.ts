import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { CALLBACK, signsIn, TestClient } from './browser.fixture.js';

const OWN = 'https://app.example';
const OTHERS = ['https://evil.example', 'http://app.example', 'https://app.example:8443', 'null'];

let bench: IdentityBench;
let organization: TestOrganization;
let open: TestClient;
let userId: string;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  open = await TestClient.register(bench, organization, { type: 'public' });
  ({ userId } = await bench.signedIn(organization));
});

/** A call of a page: whether it succeeds, and whether the page may read what it is answered. */
async function from(origin: string, path: string, init: RequestInit = {}) {
  const { headers, ...rest } = init;
  const response = await fetch(bench.app.url + path, { ...rest, headers: { ...headers, origin } });
  return [response.status, response.headers.get('access-control-allow-origin')];
}
const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });

describe('pages of other origins', () => {
  it('get tokens where a public client is, and nowhere else', async () => {
    const client = await TestClient.register(bench, organization);
    const call = async (one: TestClient, origin: string) => {
      const { code, verifier } = await one.code(signsIn(userId));
      const secret = one.registered.client_secret;
      const fields = {
        grant_type: 'authorization_code',
        client_id: one.id,
        ...(secret === undefined ? {} : { client_secret: secret }),
        code,
        code_verifier: verifier,
        redirect_uri: CALLBACK,
      };
      return from(origin, '/oauth/token', form(fields));
    };
    expect(await call(open, OWN)).toEqual([200, OWN]);
    for (const other of OTHERS) expect(await call(open, other)).toEqual([400, null]);
    expect(await call(client, OWN)).toEqual([400, null]);
  });

  it('read userinfo and revoke by tokens of a public client that is there, and of no other', async () => {
    const confidential = await TestClient.register(bench, organization);
    const tokens = await open.tokens(signsIn(userId));
    const headers = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect(await from(OWN, '/oauth/userinfo', headers(tokens.access_token))).toEqual([200, OWN]);
    for (const other of OTHERS)
      expect(await from(other, '/oauth/userinfo', headers(tokens.access_token))).toEqual([400, null]);
    const { access_token: theirs } = await confidential.tokens(signsIn(userId));
    expect(await from(OWN, '/oauth/userinfo', headers(theirs))).toEqual([400, null]);
    const revoke = form({ client_id: open.id, token: tokens.refresh_token });
    for (const other of OTHERS) expect(await from(other, '/oauth/revoke', revoke)).toEqual([400, null]);
    expect((await open.refresh(tokens.refresh_token)).status).toBe(200);
    expect(await from(OWN, '/oauth/revoke', revoke)).toEqual([200, OWN]);
  });

  it.each(['/oauth/token', '/oauth/userinfo', '/oauth/revoke'])(
    'are let ask %s, without cookies',
    async (path) => {
      const response = await fetch(bench.app.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: OWN,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      });
      expect(response.status).toBe(204);
      const { headers } = response;
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-methods')).toContain('POST');
      expect(headers.get('access-control-allow-headers')).toBe('authorization, content-type');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    },
  );

  it.each(['/oauth/introspect', '/oauth/authorize', '/oauth/logout', '/oauth/logout/confirm'])(
    'are not let ask %s',
    async (path) => {
      const response = await fetch(bench.app.url + path, {
        method: 'OPTIONS',
        headers: { origin: OWN, 'access-control-request-method': 'POST' },
      });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, null]);
    },
  );
});
