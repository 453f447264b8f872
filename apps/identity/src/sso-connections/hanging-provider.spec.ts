import { Clock, Database } from '@customer-platform/database';
import { eventually } from '@customer-platform/testing';
import { CLIENT_SECRET_SEAL } from './client-secret-seal.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { ProviderPlaces } from './provider-places.js';
import { Providers, UnusableProvider } from './providers.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';
import { SsoConnection } from './sso-connection.entity.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';
import { SSO_CONFIG } from './sso.config.js';

const DISCOVERY = '/.well-known/openid-configuration';
/** Of one connection. */
const PLACES = 16;

describe('a provider that hangs', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let other: HostileProvider;
  let connection: TestConnection;
  let held: (() => void)[];
  const browser = aBrowser();

  beforeAll(async () => {
    [provider, other] = await Promise.all([HostileProvider.start(), HostileProvider.start()]);
    bench = await SsoBench.start();
  });
  afterAll(async () => {
    await bench.end();
    await Promise.all([provider.close(), other.close()]);
  });
  beforeEach(async () => {
    provider.behave();
    connection = await bench.connection(provider.issuer, { jit: true });
    provider.claims = { sub: 'somebody', email: `somebody@${connection.domain}`, email_verified: true };
    provider.asked.length = 0;
  });

  /** Answers nothing at a path until it is let. */
  const hang = (path: string): void => {
    held = [];
    provider.instead.set(path, (_request, response) => {
      held.push(() => void response.writeHead(503).end());
    });
  };
  const letGo = (): void => held.forEach((answer) => answer());
  /** Outcomes in the order in which they come. */
  const follow = (all: readonly Promise<unknown>[]): string[] => {
    const outcomes: string[] = [];
    for (const each of all)
      void each.then(
        () => outcomes.push('let in'),
        (error: unknown) => outcomes.push(error instanceof SsoRefusal ? error.reason : String(error)),
      );
    return outcomes;
  };
  /** As many as `wait` stay; all beyond have been refused, and another's provider serves meanwhile. */
  const expectBounded = async (outcomes: string[], all: number): Promise<void> => {
    await eventually(() => Promise.resolve(expect(outcomes).toHaveLength(all - PLACES)));
    expect(new Set(outcomes)).toEqual(new Set(['provider_unavailable']));
    await eventually(() => Promise.resolve(expect(held.length).toBeGreaterThan(0)));
    const elsewhere = await bench.connection(other.issuer);
    expect((await bench.begin(elsewhere, browser)).origin).toBe(other.issuer);
    expect(outcomes).toHaveLength(all - PLACES);
    letGo();
    await eventually(() => Promise.resolve(expect(outcomes).toHaveLength(all)));
  };

  it('holds sixteen who leave for it; others are refused at once, or sign in at theirs', async () => {
    hang(DISCOVERY);
    const leaving = Array.from({ length: 30 }, () => bench.begin(connection, browser));
    await expectBounded(follow(leaving), 30);
    expect(provider.asked).toEqual([DISCOVERY]);
  });

  it('holds sixteen who come back from it', async () => {
    const urls: URL[] = [];
    // One interaction keeps ten.
    for (let each = 0; each < 20; each += 1)
      urls.push(await bench.begin(connection, browser, undefined, `${connection.id}-${String(each % 2)}`));
    hang('/token');
    const coming = urls.map((url) => bench.finish(provider.authorize(url), browser));
    await expectBounded(follow(coming), urls.length);
    expect(provider.asked.filter((path) => path === '/token')).toHaveLength(PLACES);
  });

  it('is not asked again for half a minute, however long it has hung', async () => {
    const clock = new (class extends Clock {
      passed = 0;
      override now = (): Date => new Date(1_700_000_000_000 + this.passed);
    })();
    const { app } = bench.identity.app;
    const providers = new Providers(
      clock,
      app.get(SSO_CONFIG, { strict: false }),
      app.get(CLIENT_SECRET_SEAL, { strict: false }),
      app.get(ProviderPlaces, { strict: false }),
    );
    const row = await app
      .get(Database, { strict: false })
      .acrossOrganizations((tx) => tx.manager.findOneByOrFail(SsoConnection, { id: connection.id }));
    hang(DISCOVERY);
    const asked = providers.of(row);
    await eventually(() => Promise.resolve(expect(held).toHaveLength(1)));
    clock.passed = 10_000;
    letGo();
    await expect(asked).rejects.toBeInstanceOf(UnusableProvider);
    clock.passed += 29_000;
    await expect(providers.of(row)).rejects.toBeInstanceOf(UnusableProvider);
    expect(provider.asked).toEqual([DISCOVERY]);
    clock.passed += 2_000;
    provider.instead.clear();
    expect((await providers.of(row)).serverMetadata().issuer).toBe(provider.issuer);
  });

  it('an interaction has ten requests open: the oldest goes', async () => {
    const urls: URL[] = [];
    for (let each = 0; each < 12; each += 1) urls.push(await bench.begin(connection, browser));
    const [row] = await bench.identity.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM sso_requests WHERE connection_id = $1',
      [connection.id],
    );
    expect(row?.count).toBe(10);
    const [first, last] = [urls[0], urls.at(-1)].map((url) => provider.authorize(url ?? new URL('about:')));
    const refused = bench.finish(first ?? new URL('about:'), browser);
    await expect(refused).rejects.toMatchObject({ reason: 'unknown_request' });
    provider.authorize(urls.at(-1) ?? new URL('about:'));
    expect((await bench.finish(last ?? new URL('about:'), browser)).signedIn.amr).toEqual(['fed']);
  });
});
