import { newId } from '@customer-platform/database';
import { OtherProviders } from './other-provider-process.fixture.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';

const DOMAIN = `${newId()}.example`;
const ana = { email: `ana@${DOMAIN}`, name: 'Ana Rojas', given_name: 'Ana', family_name: 'Rojas' };

/** What the ID tokens and userinfo of each say of people; subjects are as each makes them. */
const PROVIDERS = [
  {
    name: 'google',
    algorithm: 'RS256',
    thin: false,
    people: {
      '110169484474386276334': {
        ...ana,
        email_verified: true,
        hd: DOMAIN,
        picture: 'https://lh3.example/a',
        locale: 'es',
      },
      stranger: { ...ana, email: 'ana@gmail.example', email_verified: true },
    },
    known: '110169484474386276334',
    refused: { stranger: 'foreign_domain' },
  },
  {
    name: 'entra',
    algorithm: 'RS256',
    thin: false,
    people: {
      AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ: {
        email: ana.email,
        name: ana.name,
        preferred_username: ana.email,
        oid: newId(),
        tid: newId(),
        ver: '2.0',
        xms_edov: true,
      },
      // Any administrator of a tenant writes any address here.
      hearsay: { email: `boss@${DOMAIN}`, preferred_username: `boss@${DOMAIN}`, ver: '2.0' },
      nameless: { preferred_username: `boss@${DOMAIN}`, ver: '2.0' },
    },
    known: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
    refused: { hearsay: 'no_verified_email', nameless: 'no_verified_email' },
  },
  {
    name: 'okta',
    algorithm: 'RS256',
    thin: true,
    people: {
      '00uid4BxXw6I6TV4m0g3': { ...ana, email_verified: true, locale: 'es_CL', zoneinfo: 'America/Santiago' },
      unverified: { ...ana, email_verified: false },
    },
    known: '00uid4BxXw6I6TV4m0g3',
    refused: { unverified: 'no_verified_email' },
  },
  {
    name: 'keycloak',
    algorithm: 'ES256',
    thin: false,
    people: {
      'f:550e8400-e29b-41d4-a716-446655440000:ana': {
        ...ana,
        email_verified: true,
        preferred_username: 'ana',
      },
      unverified: { ...ana, email_verified: false, preferred_username: 'ana' },
    },
    known: 'f:550e8400-e29b-41d4-a716-446655440000:ana',
    refused: { unverified: 'no_verified_email' },
  },
] as const;

/** As a browser does: keeps cookies, follows redirects, until it is sent back to the platform. */
async function browse(from: URL, until: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = from;
  for (let step = 0; step < 10 && !url.href.startsWith(until); step += 1) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    url = new URL(answer.headers.get('location') ?? 'about:blank', url);
  }
  return url;
}

describe('a provider that is not ours', () => {
  let bench: SsoBench;
  let providers: OtherProviders;
  const browser = aBrowser();

  beforeAll(async () => {
    bench = await SsoBench.start();
    providers = await OtherProviders.start(PROVIDERS);
  });
  afterAll(async () => {
    await providers.end();
    await bench.end();
  });

  const comeAs = async (connection: TestConnection, subject: string): Promise<string> => {
    const url = await bench.begin(connection, browser, subject);
    const back = await browse(url, connection.redirectUri);
    try {
      return (await bench.finish(back, browser)).signedIn.userId;
    } catch (error) {
      if (error instanceof SsoRefusal) return error.reason;
      throw error;
    }
  };

  it.each(PROVIDERS)('lets people in with the claims of $name', async ({ name, known, refused }) => {
    const connection = await bench.connection(providers.issuer(name), { domains: [DOMAIN], jit: true });
    await bench.set(connection, await providers.register(connection, name));
    for (const [subject, reason] of Object.entries(refused)) {
      expect(await comeAs(connection, subject)).toBe(reason);
    }
    const userId = await comeAs(connection, known);
    expect(await bench.user(userId)).toMatchObject({
      email: ana.email,
      name: ana.name,
      status: 'active',
      home: connection.organization.id,
    });
    expect(await comeAs(connection, known)).toBe(userId);
    // The next one is of another organization, with the same domain and the same person.
    await bench.set(connection, { status: 'inactive' });
    await bench.identity.within(connection.organization.id, (tx) =>
      tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, `${newId()}@example.com`]),
    );
  });
});
