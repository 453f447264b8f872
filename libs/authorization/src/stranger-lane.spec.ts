import { setImmediate as turn } from 'node:timers/promises';
import { networkOf } from '@customer-platform/config';
import { AccessTokens } from './access-tokens.js';
import { hashApiKey, newApiKey } from './api-key.js';
import { RegistryUnavailable } from './authorization-source.js';
import { ChangeFeed } from './change-feed.js';
import { CredentialCache } from './credential-cache.js';
import { CredentialResolver } from './credential-resolver.js';
import { KeyUsage } from './key-usage.js';
import { aCredential, codeOf, FixtureClock, FixtureRegistry } from './registry.fixture.js';
import { STRANGER_LIMITS } from './stranger-lane.js';

const { running, waiting, ofOne, ofAll } = STRANGER_LIMITS;
const ACCEPTS = { accepts: 'api_key' } as const;

/** An instance that has read the feed, and a key it knows. */
async function anInstance() {
  const registry = new FixtureRegistry();
  const clock = new FixtureClock();
  const key = newApiKey();
  registry.put(hashApiKey(key), aCredential());
  const cache = new CredentialCache();
  const feed = new ChangeFeed(registry, cache, clock);
  const usage = new KeyUsage(registry);
  const tokens = new AccessTokens(registry, 'https://platform.example', clock);
  const resolver = new CredentialResolver(registry, cache, feed, usage, clock, tokens);
  await feed.read();
  const ask = (address: string, presented = newApiKey()): Promise<string> =>
    codeOf(resolver.authenticate(`Bearer ${presented}`, { ...ACCEPTS, address }));
  return { registry, clock, feed, resolver, key, ask };
}

const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

async function answersOf(calls: Promise<string>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of await Promise.all(calls)) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

describe('a flood of unknown keys', () => {
  it('from one address is refused there, and costs the registry a bounded number of questions', async () => {
    const { registry, ask, clock } = await anInstance();
    for (let n = 0; n < 300; n += 1) await ask('203.0.113.9');
    expect(registry.resolves).toBe(ofOne.burst);
    expect(await ask('203.0.113.9')).toBe('rate_limited');
    expect(await ask('203.0.113.10')).toBe('invalid_token');
    clock.pass(1_000);
    const before = registry.resolves;
    for (let n = 0; n < 100; n += 1) await ask('203.0.113.9');
    expect(registry.resolves - before).toBe(ofOne.perSecond);
  });

  it('from many addresses is refused to unknown keys alone', async () => {
    const { registry, ask, key, feed } = await anInstance();
    expect(await ask('192.0.2.1', key)).toBe('permitted');
    const before = registry.resolves;
    await answersOf(times(2_000).map((n) => ask(`10.${n >> 8}.${n & 255}.1`)));
    expect(registry.resolves - before).toBe(ofAll.burst);
    expect(await ask('198.51.100.1')).toBe('authorization_unavailable');
    // The known one must be asked for again: its organization's epoch has risen.
    registry.put(hashApiKey(key), aCredential());
    await feed.read();
    expect(await ask('192.0.2.1', key)).toBe('permitted');
  });

  it('from ten addresses without pause keeps no other one out', async () => {
    const { registry, ask, clock } = await anInstance();
    const attackers = times(10).map((n) => `203.0.113.${n}`);
    for (let n = 0; n < ofAll.burst / attackers.length; n += 1)
      for (const address of attackers) await ask(address);
    expect(registry.resolves).toBe(ofAll.burst);
    const good = times(20).map(() => newApiKey());
    for (const key of good) registry.put(hashApiKey(key), aCredential());
    const flood = times(2_000).map((n) => ask(attackers[n % attackers.length] as string));
    const others = good.map((key, n) => ask(`198.51.100.${n}`, key));
    const wrong = ask('192.0.2.77');
    clock.pass(20); // two look-ups of the total have come back
    expect(await answersOf(others)).toEqual({ permitted: good.length });
    expect(await wrong).toBe('invalid_token');
    await Promise.all(flood);
    expect(registry.resolves - good.length).toBeLessThanOrEqual(ofAll.burst + 2);
  });

  it('that hangs at the registry does not make a known key wait that must be refreshed', async () => {
    const { registry, ask, key, feed } = await anInstance();
    expect(await ask('192.0.2.1', key)).toBe('permitted');
    const held = Promise.withResolvers<void>();
    registry.answerAfter = held.promise;
    const before = registry.resolves;
    const flood = times(2_000).map((n) => ask(`10.${n >> 8}.${n & 255}.1`));
    await turn();
    expect(registry.resolves - before).toBe(running);
    registry.answerAfter = undefined;
    for (let n = 0; n < 20; n += 1) {
      registry.put(hashApiKey(key), aCredential());
      await feed.read();
      expect(await ask('192.0.2.1', key)).toBe('permitted');
    }
    expect(registry.resolvesOn).toEqual({ known: 20, strangers: 1 + running });
    held.resolve();
    const answers = await answersOf(flood);
    expect(answers['permitted']).toBeUndefined();
    expect(answers['authorization_unavailable']).toBeGreaterThanOrEqual(2_000 - running - waiting);
    expect(registry.resolvesOn.strangers).toBeLessThanOrEqual(1 + ofAll.burst + running);
  });

  it('of organizations that a tenant token names is rationed likewise; a known one is not', async () => {
    const { registry, resolver, clock, feed } = await anInstance();
    const known = aCredential().organization.id;
    const principal = { type: 'organization', id: known } as const;
    registry.put(known, aCredential({ principal, actor: principal, permissions: [] }));
    await feed.read();
    const exchange = (id: string): Promise<string> =>
      codeOf(resolver.tenant({ organization_id: id }, { unverified: true, address: '203.0.113.9' }));
    expect(await exchange(known)).toBe('permitted');
    const before = registry.resolves;
    for (const n of times(300)) await exchange(`0190cccc-0000-7000-8000-${String(n).padStart(12, '0')}`);
    expect(registry.resolves - before).toBe(ofOne.burst);
    clock.pass(5_000);
    expect(await exchange(known)).toBe('permitted');
  });
});

describe('good credentials that this process has not seen yet', () => {
  it('are looked up as they come, many at once, and cost no allowance', async () => {
    const { registry, ask } = await anInstance();
    const keys = times(waiting).map(() => newApiKey());
    for (const key of keys) registry.put(hashApiKey(key), aCredential());
    expect(await answersOf(keys.map((key) => ask('203.0.113.9', key)))).toEqual({ permitted: waiting });
    expect(await ask('203.0.113.9')).toBe('invalid_token');
  });

  it('are not charged for the registry’s silence', async () => {
    const { registry, ask, key } = await anInstance();
    const resolve = registry.resolve.bind(registry);
    registry.resolve = () => Promise.reject(new RegistryUnavailable('silent'));
    for (let n = 0; n < 2 * ofAll.burst; n += 1)
      expect(await ask('203.0.113.9', key)).toBe('authorization_unavailable');
    registry.resolve = resolve;
    expect(await ask('203.0.113.9', key)).toBe('permitted');
  });
});

describe('the addresses of one subscriber', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:aaaa:bbbb:cccc:dddd', '2001:db8:1:2'],
    ['2001:DB8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('%s is of %s', (address, network) => {
    expect(networkOf(address, 32)).toBe(network);
  });
});
