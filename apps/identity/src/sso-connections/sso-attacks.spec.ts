import { createHash } from 'node:crypto';
import { generateKeyPair } from 'jose';
import { HostileProvider } from './hostile-provider.fixture.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';

type Claims = Record<string, unknown>;

const ANEW = { prompt: 'login', max_age: '3600' };

/** Attacks of RFC 9700 on the one who relies on a provider, each by a provider, a network or a browser that lies. */
describe('a provider that lies', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let connection: TestConnection;
  const browser = aBrowser();

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
    connection = await bench.connection(provider.issuer, { jit: true });
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(async () => {
    provider.behave();
    // A new version of the connection: its provider is looked up anew.
    await bench.set(connection, { name: `Version ${String(Math.random())}` });
    provider.claims = { sub: 'somebody', email: `somebody@${connection.domain}`, email_verified: true };
  });

  const reasonOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'let in',
      (error: unknown) => (error instanceof SsoRefusal ? error.reason : `${String(error)}`),
    );
  /** From the beginning to what comes of it. */
  const walk = async (parameters: Record<string, string> = {}): Promise<string> => {
    const there = async (): Promise<unknown> => {
      const url = await bench.begin(connection, browser);
      return bench.finish(provider.authorize(url, parameters), browser);
    };
    return reasonOf(there());
  };
  const change = (changed: Claims): void => {
    provider.claims = { ...provider.claims, ...changed };
  };

  it('is let in while it tells the truth', async () => {
    expect(await walk()).toBe('let in');
  });

  const past = Math.floor(Date.now() / 1_000) - 3_600;
  it.each<[string, () => void]>([
    ['signs nothing', () => (provider.sign = (claims) => Promise.resolve(provider.unsigned(claims)))],
    [
      'signs by the secret that both know',
      () => (provider.sign = (claims) => provider.signedBySecret(claims, 'a-secret-of-the-provider')),
    ],
    [
      'signs by its public key as if it were a secret',
      () => (provider.sign = (claims) => provider.signedBySecret(claims, provider.publicText)),
    ],
    [
      'signs by a key that is not its own',
      () =>
        (provider.sign = async (claims) => {
          const { privateKey } = await generateKeyPair('ES256');
          return provider.signed(claims, {}, privateKey);
        }),
    ],
    [
      'brings its key along',
      () =>
        (provider.sign = (claims) =>
          provider.signed(claims, { kid: 'another', jku: `${provider.issuer}/jwks` })),
    ],
    [
      'alters what was signed',
      () =>
        (provider.sign = async (claims) => {
          const [header, , signature] = (await provider.signed(claims)).split('.');
          const other = Buffer.from(JSON.stringify({ ...claims, sub: 'owner' })).toString('base64url');
          return [header, other, signature].join('.');
        }),
    ],
    ['sends no token', () => (provider.sign = () => Promise.resolve(''))],
    ['sends what is no token', () => (provider.sign = () => Promise.resolve('a.b.c'))],
    ['means another client', () => change({ aud: 'another' })],
    ['means several clients and says for whom not', () => change({ aud: ['platform', 'another'] })],
    ['was made for another party', () => change({ aud: ['platform', 'another'], azp: 'another' })],
    ['was made for another party alone', () => change({ azp: 'another' })],
    ['is of another issuer', () => change({ iss: 'https://accounts.example.com' })],
    ['is of nearly the same issuer', () => change({ iss: `${provider.issuer}/` })],
    ['answers another request', () => change({ nonce: 'of another request' })],
    ['answers no request', () => change({ nonce: undefined })],
    ['has expired', () => change({ iat: past - 60, exp: past })],
    ['never expires', () => change({ exp: undefined })],
    ['begins later', () => change({ nbf: Math.floor(Date.now() / 1_000) + 3_600 })],
    ['names nobody', () => change({ sub: undefined })],
    ['names nobody by an empty text', () => change({ sub: '' })],
    ['names somebody without end', () => change({ sub: 'x'.repeat(256) })],
    ['names what cannot be written down', () => change({ sub: 'a\u0000b' })],
  ])('answer_invalid for a token that %s', async (_, lie) => {
    lie();
    expect(await walk()).toBe('answer_invalid');
  });

  const ago = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds;
  it.each<[string, object, number | undefined, string]>([
    ['was too long ago', { max_age: '600' }, ago(1_200), 'not_fresh'],
    ['is not said, though it must be', { max_age: '600' }, undefined, 'not_fresh'],
    ['was before it was asked for anew', { prompt: 'login' }, ago(1_200), 'not_fresh'],
    ['is younger than asked for, and before it was asked for anew', ANEW, ago(1_200), 'not_fresh'],
    ['was not so long ago', { max_age: '600' }, ago(300), 'let in'],
    ['is of now', { prompt: 'login', max_age: '0' }, ago(0), 'let in'],
    ['is not said, by a provider that was asked to sign in anew', { prompt: 'login' }, undefined, 'let in'],
    ['has all the time there is', { max_age: String(Number.MAX_SAFE_INTEGER) }, ago(1_200), 'let in'],
    ['has more than that', { max_age: '9'.repeat(400) }, ago(1_200), 'let in'],
  ])('a sign-in that %s: %j, %j: %s', async (_, anew, auth_time, reason) => {
    change({ auth_time });
    const asked = {
      uid: `interaction-${connection.id}`,
      client: { organizationId: connection.organization.id },
    };
    const url = await bench.sso.begin(asked, connection.id, { browserHash: browser, anew });
    expect(await reasonOf(bench.finish(provider.authorize(url), browser))).toBe(reason);
  });

  describe('mix-up', () => {
    it('refuses an answer that another issuer signs with its name (RFC 9207)', async () => {
      expect(await walk({ iss: 'https://accounts.example.com' })).toBe('answer_invalid');
      expect(provider.tokenRequests).toEqual([]);
      expect(await walk({ iss: provider.issuer })).toBe('let in');
    });

    it('refuses an answer without a name from who has promised to say it', async () => {
      provider.metadata = { ...provider.metadata, authorization_response_iss_parameter_supported: true };
      expect(await walk()).toBe('answer_invalid');
      expect(await walk({ iss: provider.issuer })).toBe('let in');
    });

    it('redeems a code at no other provider than the one that the request went to', async () => {
      const other = await HostileProvider.start();
      const elsewhere = await bench.connection(other.issuer, { jit: true });
      const url = await bench.begin(elsewhere, browser);
      await reasonOf(bench.finish(other.authorize(url), browser));
      expect(provider.tokenRequests).toEqual([]);
      expect(other.tokenRequests).toHaveLength(1);
      await other.close();
    });

    it('gives each connection a redirect URI of its own', async () => {
      const elsewhere = await bench.connection(provider.issuer);
      for (const each of [connection, elsewhere]) {
        const url = await bench.begin(each, browser);
        expect(url.searchParams.get('redirect_uri')).toBe(each.redirectUri);
      }
      expect(connection.redirectUri).not.toBe(elsewhere.redirectUri);
    });

    it('other_connection for an answer at another’s address: whoever made the code, nobody is shown it', async () => {
      const attacker = await HostileProvider.start();
      const theirs = await bench.connection(attacker.issuer, { jit: true });
      const pairs = [
        [theirs, connection],
        [connection, theirs],
      ] as const;
      for (const [sentTo, cameTo] of pairs) {
        // The one that it was sent to leads the browser on to the other, which knows only its own address.
        const url = await bench.begin(sentTo, browser);
        url.searchParams.set('redirect_uri', cameTo.redirectUri);
        const back = provider.authorize(url);
        expect(await reasonOf(bench.finish(back, browser))).toBe('other_connection');
        // Nor at the right address any more.
        back.pathname = new URL(sentTo.redirectUri).pathname;
        expect(await reasonOf(bench.finish(back, browser))).toBe('unknown_request');
      }
      expect([...provider.tokenRequests, ...attacker.tokenRequests]).toEqual([]);
      await attacker.close();
    });
  });

  describe('the answer to a request', () => {
    it('unknown_request for one that was never asked, and for no state at all', async () => {
      const url = await bench.begin(connection, browser);
      expect(await reasonOf(bench.finish(provider.authorize(url, { state: 'x'.repeat(43) }), browser))).toBe(
        'unknown_request',
      );
      expect(await reasonOf(bench.finish(provider.authorize(url, { state: '' }), browser))).toBe(
        'unknown_request',
      );
    });

    it('counts once, however many come with it at once', async () => {
      const url = await bench.begin(connection, browser);
      const back = provider.authorize(url);
      const reasons = await Promise.all(
        Array.from({ length: 20 }, () => reasonOf(bench.finish(back, browser))),
      );
      expect(reasons.filter((reason) => reason === 'let in')).toHaveLength(1);
      expect(new Set(reasons)).toEqual(new Set(['let in', 'unknown_request']));
      expect(provider.tokenRequests).toHaveLength(1);
    });

    it('other_browser where it is brought by another one, or by one without a cookie', async () => {
      for (const other of [aBrowser(), undefined]) {
        const back = provider.authorize(await bench.begin(connection, browser));
        expect(await reasonOf(bench.finish(back, other))).toBe('other_browser');
        // Nor can it be tried again in the right one.
        expect(await reasonOf(bench.finish(back, browser))).toBe('unknown_request');
      }
      expect(provider.tokenRequests).toEqual([]);
    });

    it('answer_invalid where the state is there twice', async () => {
      const back = provider.authorize(await bench.begin(connection, browser));
      back.searchParams.append('state', 'x'.repeat(43));
      expect(await reasonOf(bench.finish(back, browser))).toBe('answer_invalid');
    });

    it('too_late after ten minutes', async () => {
      const url = await bench.begin(connection, browser);
      await bench.identity.within(connection.organization.id, (tx) =>
        tx.query(`UPDATE sso_requests SET expires_at = now() - interval '1 ms'`),
      );
      expect(await reasonOf(bench.finish(provider.authorize(url), browser))).toBe('too_late');
    });

    it('connection_off once it is switched off', async () => {
      const other = await bench.connection(provider.issuer);
      const url = await bench.begin(other, browser);
      await bench.set(other, { status: 'inactive' });
      expect(await reasonOf(bench.finish(provider.authorize(url), browser))).toBe('connection_off');
      expect(await reasonOf(bench.begin(other, browser))).toBe('connection_off');
    });

    it('provider_refused where the provider says so, of a request that was asked', async () => {
      expect(await walk({ error: 'access_denied' })).toBe('provider_refused');
    });
  });

  it('asks with state, nonce and PKCE, and redeems with the verifier; stores none of them', async () => {
    const url = await bench.begin(connection, browser);
    const [state = '', nonce = ''] = ['state', 'nonce'].map((name) => url.searchParams.get(name) ?? '');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'platform',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
    });
    const [row] = await bench.identity.database.query<{ text: string; hash: Buffer }>(
      `SELECT json_agg(r)::text AS text, (array_agg(state_hash ORDER BY expires_at DESC))[1] AS hash FROM sso_requests r`,
    );
    expect(row?.hash).toEqual(createHash('sha256').update(state).digest());
    for (const secret of [state, nonce]) expect(row?.text).not.toContain(secret);
    expect(await reasonOf(bench.finish(provider.authorize(url), browser))).toBe('let in');
    expect(provider.redeemedFor(url)).toBe(true);
    expect(provider.tokenRequests[0]?.parameters.get('redirect_uri')).toBe(
      url.searchParams.get('redirect_uri'),
    );
  });

  describe('its documents', () => {
    const PRIVATE = [
      'http://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/token',
      'https://[fd00::1]/',
    ];

    it.each(PRIVATE)('follows no redirect of the token endpoint to %s', async (location) => {
      provider.instead.set(
        '/token',
        (_request, response) => void response.writeHead(307, { location }).end(),
      );
      expect(await walk()).toBe('answer_invalid');
    });

    it.each(PRIVATE)('calls no token endpoint and no key set at %s', async (address) => {
      provider.metadata = { ...provider.metadata, token_endpoint: address };
      expect(await walk()).toBe('provider_unavailable');
      provider.metadata = {
        ...provider.metadata,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: address,
      };
      await bench.set(connection, { name: 'Another version' });
      expect(await walk()).toBe('provider_unavailable');
    });

    it.each(['/.well-known/openid-configuration', '/token', '/jwks'])(
      'reads no %s without end',
      async (path) => {
        provider.instead.set(path, (_request, response) => {
          response.setHeader('content-type', 'application/json');
          const more = (): void => {
            while (!response.destroyed && response.write(' '.repeat(65_536)));
          };
          response.on('drain', more);
          more();
        });
        expect(await walk()).toBe('provider_unavailable');
      },
    );

    it('provider_unavailable where it is away, and asks it once for many', async () => {
      provider.instead.set('/.well-known/openid-configuration', (_request, response) => {
        response.writeHead(503).end();
      });
      const reasons = await Promise.all(
        Array.from({ length: 10 }, () => reasonOf(bench.begin(connection, browser))),
      );
      expect(new Set(reasons)).toEqual(new Set(['provider_unavailable']));
      expect(provider.asked).toEqual(['/.well-known/openid-configuration']);
    });
  });
});
