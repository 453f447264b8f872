import { ChangeFeed } from './change-feed.js';
import { AccessTokens } from './access-tokens.js';
import { CredentialCache } from './credential-cache.js';
import { CredentialResolver } from './credential-resolver.js';
import { KeyUsage } from './key-usage.js';
import { aCredential, codeOf, FixtureClock, FixtureRegistry } from './registry.fixture.js';

const KEY = '0190aaaa-0000-7000-8000-000000000001';
const ORGANIZATION = aCredential().organization.id;
const BY_KEY = { organization_id: ORGANIZATION, api_key_id: KEY };
const BY_ITSELF = { organization_id: ORGANIZATION };

function theOrganization() {
  const principal = { type: 'organization', id: ORGANIZATION } as const;
  return aCredential({ principal, actor: principal, permissions: [] });
}

/** An instance that has read the feed, and a registry that knows one key and its organization. */
async function anInstance() {
  const registry = new FixtureRegistry();
  registry.put(`${ORGANIZATION} ${KEY}`, aCredential({ permissions: ['core.members.exchange'] }));
  registry.put(ORGANIZATION, theOrganization());
  const clock = new FixtureClock();
  const cache = new CredentialCache();
  const feed = new ChangeFeed(registry, cache, clock);
  const resolver = new CredentialResolver(
    registry,
    cache,
    feed,
    new KeyUsage(registry),
    clock,
    new AccessTokens(registry, 'https://platform.example', clock),
  );
  await feed.read();
  return { registry, clock, feed, resolver };
}

describe('whoever stands behind a token of a member', () => {
  it('is looked up once, a key beside its organization', async () => {
    const { registry, resolver } = await anInstance();
    const byKey = await resolver.tenant(BY_KEY);
    expect([byKey.principal, [...byKey.permissions]]).toEqual([
      { type: 'api_key', id: KEY },
      ['core.members.exchange'],
    ]);
    expect(await resolver.tenant(BY_KEY)).toBe(byKey);
    const byItself = await resolver.tenant(BY_ITSELF);
    expect([byItself.principal.type, byItself.permissions.size]).toEqual(['organization', 0]);
    expect(registry.resolves).toBe(2);
  });

  it('is refused as soon as the feed has told of the end of the key', async () => {
    const { registry, resolver, feed, clock } = await anInstance();
    await resolver.tenant(BY_KEY);
    registry.revoke(`${ORGANIZATION} ${KEY}`);
    registry.put(ORGANIZATION, theOrganization());
    await feed.read();
    expect(await codeOf(resolver.tenant(BY_KEY))).toBe('invalid_token');
    expect(await codeOf(resolver.tenant(BY_ITSELF))).toBe('permitted');
    clock.pass(500);
    expect(await codeOf(resolver.tenant(BY_KEY))).toBe('invalid_token');
  });

  it('503 once the registry is silent and what is known is old', async () => {
    const { registry, resolver, clock } = await anInstance();
    await resolver.tenant(BY_KEY);
    registry.down = true;
    expect(await codeOf(resolver.tenant(BY_KEY))).toBe('permitted');
    clock.pass(751);
    expect(await codeOf(resolver.tenant(BY_KEY))).toBe('authorization_unavailable');
  });

  it('is told as suspended, for the route to refuse', async () => {
    const { registry, resolver } = await anInstance();
    registry.put(`${ORGANIZATION} ${KEY}`, aCredential({ restriction: 'organization_suspended' }));
    expect((await resolver.tenant(BY_KEY)).restriction).toBe('organization_suspended');
  });
});
