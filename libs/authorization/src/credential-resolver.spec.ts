import { jest } from '@jest/globals';
import { AccessTokens } from './access-tokens.js';
import { hashApiKey, newApiKey } from './api-key.js';
import { ChangeFeed } from './change-feed.js';
import { CredentialCache } from './credential-cache.js';
import { CredentialResolver } from './credential-resolver.js';
import { KeyUsage } from './key-usage.js';
import { aCredential, codeOf, FixtureClock, FixtureRegistry } from './registry.fixture.js';

const ISSUER = 'https://platform.example';
const ACCEPTS = { accepts: 'api_key|user', address: '192.0.2.1' } as const;
const INGESTION = { ...ACCEPTS, accepts: 'api_key', outlivesOutage: true } as const;

function anInstance(registry: FixtureRegistry, clock = new FixtureClock()) {
  const cache = new CredentialCache();
  const feed = new ChangeFeed(registry, cache, clock);
  const usage = new KeyUsage(registry);
  const resolver = new CredentialResolver(
    registry,
    cache,
    feed,
    usage,
    clock,
    new AccessTokens(registry, ISSUER, clock),
  );
  return { cache, feed, usage, resolver, clock };
}

async function aKnownKey(overrides: Parameters<typeof aCredential>[0] = {}) {
  const registry = new FixtureRegistry();
  const key = newApiKey();
  registry.put(hashApiKey(key), aCredential(overrides));
  const instance = anInstance(registry);
  await instance.feed.read();
  return { registry, key, header: `Bearer ${key}`, hash: hashApiKey(key), ...instance };
}

describe('a credential presented', () => {
  it.each([
    ['nothing', undefined, 'missing_credentials'],
    ['an empty header', '  ', 'missing_credentials'],
    ['another scheme', `Basic ${newApiKey()}`, 'invalid_token'],
    ['a JWT', 'Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2ln', 'invalid_token'],
    ['a mistyped key', `Bearer ${newApiKey().slice(0, -1)}!`, 'invalid_token'],
    ['a key too long', `Bearer ${newApiKey()}0`, 'invalid_token'],
  ])('%s is refused without a look-up', async (_, header, code) => {
    const { registry, resolver } = await aKnownKey();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe(code);
    expect(resolver.peek(header)).toBeUndefined();
    expect(registry.resolves).toBe(0);
  });

  it('is looked up once and then permitted at once', async () => {
    const { registry, resolver, header, hash } = await aKnownKey();
    expect(resolver.peek(header)).toBeUndefined();
    const caller = await resolver.authenticate(header, ACCEPTS);
    expect(caller).toMatchObject({ principal: { type: 'api_key' }, keyHash: hash });
    expect(caller.permissions).toEqual(new Set(['core.events.write']));
    expect(resolver.peek(header)).toBe(caller);
    expect(await resolver.authenticate(`bearer  ${header.slice(7)}`, ACCEPTS)).toBe(caller);
    expect(registry.resolves).toBe(1);
  });

  it('keeps the feed awake, whether it is known, outdated or nobody’s', async () => {
    const { feed, cache, resolver, header } = await aKnownKey();
    const caller = await resolver.authenticate(header, ACCEPTS);
    const asked = jest.spyOn(feed, 'isFresh');
    cache.raise(caller.organizationId, 1_000_000, 0);
    resolver.peek(header);
    expect(asked).toHaveBeenCalledTimes(1);
    resolver.peek(`Bearer ${newApiKey()}`);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it('is looked up once by a hundred requests at the same time', async () => {
    const { registry, resolver, header } = await aKnownKey();
    await Promise.all(Array.from({ length: 100 }, () => resolver.authenticate(header, ACCEPTS)));
    expect(registry.resolves).toBe(1);
  });

  it('503 when the answer came half a second late by the clock, however late the process was to look', async () => {
    const { registry, resolver, header, clock } = await aKnownKey();
    const held = Promise.withResolvers<void>();
    registry.answerAfter = held.promise;
    const first = codeOf(resolver.authenticate(header, ACCEPTS));
    clock.pass(400);
    const joined = codeOf(resolver.authenticate(header, ACCEPTS));
    clock.pass(101);
    held.resolve();
    expect(await Promise.all([first, joined])).toEqual([
      'authorization_unavailable',
      'authorization_unavailable',
    ]);
    expect(resolver.peek(header)).toBeUndefined();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
  });

  it('503 when the registry takes the question and never answers', async () => {
    const { registry, resolver, header } = await aKnownKey();
    registry.answerAfter = new Promise(() => undefined);
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('authorization_unavailable');
  });

  it('401 when the registry does not know it, asked again after half a second only', async () => {
    const { registry, resolver, clock } = await aKnownKey();
    const header = `Bearer ${newApiKey()}`;
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('invalid_token');
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('invalid_token');
    expect(registry.resolves).toBe(1);
    clock.pass(500);
    registry.put(hashApiKey(header.slice(7)), aCredential());
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
  });

  it('401 token_expired when its own end has come, and no request is permitted after it', async () => {
    const { registry, resolver, header, hash, clock, feed } = await aKnownKey({ expires_in_ms: 700 });
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
    registry.credentials.set(hash, 'expired');
    clock.pass(699);
    await feed.read();
    expect(resolver.peek(header)).toBeDefined();
    clock.pass(1);
    expect(resolver.peek(header)).toBeUndefined();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('token_expired');
  });

  it('403 user_required where users are served, once the key is known to be one', async () => {
    const { resolver, header } = await aKnownKey();
    expect(await codeOf(resolver.authenticate(header, { ...ACCEPTS, accepts: 'user' }))).toBe(
      'user_required',
    );
    const unknown = `Bearer ${newApiKey()}`;
    expect(await codeOf(resolver.authenticate(unknown, { ...ACCEPTS, accepts: 'user' }))).toBe(
      'invalid_token',
    );
  });

  it('403 organization_suspended', async () => {
    const { resolver, header } = await aKnownKey({ restriction: 'organization_suspended' });
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('organization_suspended');
    expect(resolver.peek(header)).toBeUndefined();
  });

  it('is passed on when it may only authenticate further; the guard of the route decides', async () => {
    const { resolver, header } = await aKnownKey({ restriction: 'mfa_required' });
    const caller = await resolver.authenticate(header, ACCEPTS);
    expect(caller.restriction).toBe('mfa_required');
    expect(resolver.peek(header)).toBeUndefined();
  });

  it('says nothing of permissions that this build does not know', async () => {
    const { resolver, header } = await aKnownKey({ permissions: ['core.events.write', 'core.future.read'] });
    const caller = await resolver.authenticate(header, ACCEPTS);
    expect([...caller.permissions]).toEqual(['core.events.write']);
  });
});

describe('losing a right', () => {
  it('is seen with the next read of the feed', async () => {
    const { registry, resolver, header, hash, feed } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    registry.revoke(hash);
    await feed.read();
    expect(resolver.peek(header)).toBeUndefined();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('invalid_token');
  });

  it('leaves other organizations’ credentials alone', async () => {
    const { registry, resolver, header, feed } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    const elsewhere = { id: '0190bbbb-0000-7000-8000-000000000002', status: 'active', settings: {} } as const;
    registry.put(hashApiKey(newApiKey()), aCredential({ organization: elsewhere }));
    await feed.read();
    expect(resolver.peek(header)).toBeDefined();
  });

  it('is not undone by a fill that was read before it and arrives after it', async () => {
    const { registry, resolver, header, hash, feed } = await aKnownKey();
    const paused = Promise.withResolvers<void>();
    registry.answerAfter = paused.promise;
    const fill = resolver.authenticate(header, ACCEPTS);
    registry.revoke(hash);
    await feed.read();
    paused.resolve();
    expect(await codeOf(fill)).toBe('invalid_token');
    expect(resolver.peek(header)).toBeUndefined();
  });

  it('503 when the rights change faster than they can be read, after three tries', async () => {
    const { registry, resolver, header, feed } = await aKnownKey();
    const resolve = registry.resolve.bind(registry);
    registry.resolve = async (hash) => {
      const answer = await resolve(hash);
      registry.put(hashApiKey(newApiKey()), aCredential());
      await feed.read();
      return answer;
    };
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('authorization_unavailable');
    expect(registry.resolves).toBe(3);
  });

  it('does not keep a fill asked for before the first read of the feed', async () => {
    const registry = new FixtureRegistry();
    const key = newApiKey();
    registry.put(hashApiKey(key), aCredential());
    const { resolver, feed } = anInstance(registry);
    const paused = Promise.withResolvers<void>();
    registry.answerAfter = paused.promise;
    const early = resolver.authenticate(`Bearer ${key}`, ACCEPTS);
    // The change is before the first read: no read will ever tell of it.
    registry.revoke(hashApiKey(key));
    await feed.read();
    paused.resolve();
    await early;
    expect(resolver.peek(`Bearer ${key}`)).toBeUndefined();
    registry.answerAfter = undefined;
    expect(await codeOf(resolver.authenticate(`Bearer ${key}`, ACCEPTS))).toBe('invalid_token');
  });

  it('forgets what it knew when the registry’s database is another one', async () => {
    const { registry, resolver, header, hash, feed } = await aKnownKey();
    registry.put(hash, aCredential());
    await resolver.authenticate(header, ACCEPTS);
    registry.replace();
    await feed.read();
    expect(resolver.peek(header)).toBeUndefined();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
    expect(resolver.peek(header)).toBeDefined();
  });
});

describe('a silent registry', () => {
  it('permits from the cache until 750 ms after the last good read began, then 503', async () => {
    const { registry, resolver, header, clock } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    registry.down = true;
    clock.pass(750);
    expect(resolver.peek(header)).toBeDefined();
    clock.pass(1);
    expect(resolver.peek(header)).toBeUndefined();
    const refusal = await resolver.authenticate(header, ACCEPTS).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'authorization_unavailable', headers: { 'Retry-After': '1' } });
  });

  it('counts from when a read began, not from when its answer came', async () => {
    const { registry, resolver, header, clock, feed } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    const changes = registry.changes.bind(registry);
    registry.changes = (cursor) => {
      clock.pass(400);
      return changes(cursor);
    };
    await feed.read();
    clock.pass(350);
    expect(resolver.peek(header)).toBeDefined();
    clock.pass(1);
    expect(resolver.peek(header)).toBeUndefined();
  });

  it('permits by asking while only the feed is late', async () => {
    const { registry, resolver, header, clock } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    clock.pass(5_000);
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
    expect(registry.resolves).toBe(2);
  });

  it('is heard again with its first good read', async () => {
    const { registry, resolver, header, clock, feed } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    clock.pass(30_000);
    await feed.read();
    expect(resolver.peek(header)).toBeDefined();
    expect(registry.resolves).toBe(1);
  });

  it('does not make a request wait for a look-up that began too long ago', async () => {
    const { registry, resolver, header, clock } = await aKnownKey();
    const paused = Promise.withResolvers<void>();
    registry.answerAfter = paused.promise;
    const first = resolver.authenticate(header, ACCEPTS);
    clock.pass(500);
    registry.answerAfter = undefined;
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('permitted');
    expect(registry.resolves).toBe(2);
    paused.resolve();
    await first;
  });
});

describe('ingestion while the registry is silent', () => {
  it('goes on, unconfirmed, for keys known good within 15 minutes, and for no other route', async () => {
    const { registry, resolver, header, clock, hash } = await aKnownKey();
    await resolver.authenticate(header, INGESTION);
    registry.down = true;
    clock.pass(15 * 60_000);
    expect(await resolver.authenticate(header, INGESTION)).toMatchObject({
      unconfirmed: true,
      keyHash: hash,
    });
    expect(resolver.peek(header)).toBeUndefined();
    expect(await codeOf(resolver.authenticate(header, ACCEPTS))).toBe('authorization_unavailable');
    clock.pass(1);
    expect(await codeOf(resolver.authenticate(header, INGESTION))).toBe('authorization_unavailable');
  });

  it('counts from the last good read that left the key valid', async () => {
    const { registry, resolver, header, clock, feed } = await aKnownKey();
    await resolver.authenticate(header, INGESTION);
    clock.pass(60 * 60_000);
    await feed.read();
    expect(resolver.peek(header)).toBeDefined();
    registry.down = true;
    clock.pass(14 * 60_000);
    expect(await resolver.authenticate(header, INGESTION)).toMatchObject({ unconfirmed: true });
  });

  it('does not ask while the feed hears nothing', async () => {
    const { registry, resolver, header, clock, feed } = await aKnownKey();
    await resolver.authenticate(header, INGESTION);
    registry.down = true;
    clock.pass(10_000);
    expect(await feed.read()).toBe(false);
    await resolver.authenticate(header, INGESTION);
    expect(registry.resolves).toBe(1);
  });

  it('503 for a key never seen and for one that has ended by itself', async () => {
    const { registry, resolver, header, clock } = await aKnownKey({ expires_in_ms: 60_000 });
    await resolver.authenticate(header, INGESTION);
    registry.down = true;
    expect(await codeOf(resolver.authenticate(`Bearer ${newApiKey()}`, INGESTION))).toBe(
      'authorization_unavailable',
    );
    clock.pass(60_000);
    expect(await codeOf(resolver.authenticate(header, INGESTION))).toBe('authorization_unavailable');
  });

  it('is refused once the registry has said so', async () => {
    const { registry, resolver, header, hash, feed, clock } = await aKnownKey();
    await resolver.authenticate(header, INGESTION);
    registry.revoke(hash);
    await feed.read();
    expect(await codeOf(resolver.authenticate(header, INGESTION))).toBe('invalid_token');
    registry.down = true;
    clock.pass(1_000);
    expect(await codeOf(resolver.authenticate(header, INGESTION))).toBe('authorization_unavailable');
  });
});

describe('the use of keys', () => {
  it('is reported by key, the latest use, in one batch', async () => {
    const { registry, resolver, header, usage } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    for (let times = 0; times < 50; times += 1) resolver.peek(header);
    await usage.report();
    expect(registry.uses).toHaveLength(1);
    expect(registry.uses[0]).toMatchObject({ key_id: aCredential().principal.id });
    await usage.report();
    expect(registry.uses).toHaveLength(1);
  });

  it('is kept when the registry does not take it', async () => {
    const { registry, resolver, header, usage } = await aKnownKey();
    await resolver.authenticate(header, ACCEPTS);
    registry.down = true;
    await usage.report();
    registry.down = false;
    await usage.report();
    expect(registry.uses).toHaveLength(1);
  });

  it('is not what a refused credential leaves behind', async () => {
    const { registry, resolver, header, usage } = await aKnownKey({ restriction: 'organization_suspended' });
    await codeOf(resolver.authenticate(header, ACCEPTS));
    await usage.report();
    expect(registry.uses).toEqual([]);
  });
});
