import { CredentialCache } from './credential-cache.js';
import { aCredential } from './registry.fixture.js';
import type { ResolvedCredential } from './protocol.js';

const organization = (number: number): ResolvedCredential['organization'] => ({
  id: `0190bbbb-0000-7000-8000-${String(number).padStart(12, '0')}`,
  status: 'active',
  settings: {},
});

function keep(cache: CredentialCache, keyHash: string, credential: ResolvedCredential, began = 0) {
  const entry = cache.entryOf(keyHash, credential, began);
  cache.keep(keyHash, entry);
  return entry;
}

describe('the cache of credentials', () => {
  it('holds the most recently used, up to its capacity', () => {
    const cache = new CredentialCache(3);
    for (const name of ['a', 'b', 'c']) keep(cache, name, aCredential({ organization: organization(1) }));
    cache.get('a');
    keep(cache, 'd', aCredential({ organization: organization(2) }));
    expect(cache.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].filter((name) => cache.get(name))).toEqual(['a', 'c', 'd']);
  });

  it('outdates all entries of an organization at once when its epoch rises, by feed or by fill', () => {
    const cache = new CredentialCache();
    const first = keep(cache, 'a', aCredential({ organization: organization(1), epoch: 4 }));
    const second = keep(cache, 'b', aCredential({ organization: organization(1), epoch: 4 }));
    const other = keep(cache, 'c', aCredential({ organization: organization(2), epoch: 1 }));
    cache.raise(organization(1).id, 4, 0);
    expect([first, second, other].map((entry) => cache.isCurrent(entry))).toEqual([true, true, true]);
    keep(cache, 'b', aCredential({ organization: organization(1), epoch: 5 }));
    expect([first, second, other].map((entry) => cache.isCurrent(entry))).toEqual([false, false, true]);
    cache.raise(organization(2).id, 2, 0);
    expect(cache.isCurrent(other)).toBe(false);
  });

  it('shares one snapshot of an organization and one set of permissions among its keys', () => {
    const cache = new CredentialCache();
    const [first, second] = ['a', 'b'].map((name) => keep(cache, name, aCredential({ epoch: 4 })));
    expect(second?.caller.organization).toBe(first?.caller.organization);
    expect(second?.caller.permissions).toBe(first?.caller.permissions);
    const later = keep(cache, 'c', aCredential({ epoch: 5 }));
    expect(later.caller.organization).not.toBe(first?.caller.organization);
  });

  it('forgets epochs of organizations without entries, but none that a fill under way may need', () => {
    const cache = new CredentialCache(10, 2);
    const kept = keep(cache, 'a', aCredential({ organization: organization(0), epoch: 1 }));
    const fill = cache.beginFill(100);
    for (let number = 1; number <= 5; number += 1)
      cache.raise(organization(number).id, 7, number <= 3 ? 50 : 150);
    cache.trim();
    expect([1, 2, 3, 4, 5].map((number) => cache.highestEpoch(organization(number).id))).toEqual([
      0, 0, 0, 7, 7,
    ]);
    cache.endFill(fill);
    cache.raise(organization(6).id, 1, 200);
    cache.trim();
    expect(cache.highestEpoch(organization(4).id)).toBe(0);
    expect(cache.highestEpoch(organization(0).id)).toBe(1);
    cache.raise(organization(0).id, 2, 300);
    expect(cache.isCurrent(kept)).toBe(false);
  });

  it('keeps no epoch for an organization whose last entry has gone', () => {
    const cache = new CredentialCache(1, 0);
    keep(cache, 'a', aCredential({ organization: organization(1), epoch: 3 }));
    keep(cache, 'b', aCredential({ organization: organization(2), epoch: 3 }));
    cache.trim();
    expect(cache.highestEpoch(organization(1).id)).toBe(0);
    expect(cache.highestEpoch(organization(2).id)).toBe(3);
  });
});
