import { TenantTurns } from './tenant-turns.js';

/** Organizations are called after their tenants: `a1`, `a2`. */
const turns = () => new TenantTurns({ of: (organizationId) => organizationId[0] ?? '' });
const waiting = (...ids: string[]) => ids.map((organizationId) => ({ organizationId }));
const children = (count: number) => waiting(...Array.from({ length: count }, (_, at) => `a${String(at)}`));
const told = (given: ReturnType<TenantTurns['give']>): string[] =>
  given.map(({ of, places }) => `${of.organizationId}: ${String(places)}`);

describe('turns of tenants', () => {
  it('give half of the places to the one neighbour of a tenant that has founded a thousand organizations', () => {
    const all = turns();
    for (let round = 0; round < 50; round += 1) {
      const given = all.give([...children(1_000), ...waiting('b1')], 32);
      expect(given.find(({ of }) => of.organizationId === 'b1')?.places).toBe(16);
      expect(given.reduce((sum, { places }) => sum + places, 0)).toBe(32);
    }
  });

  it('come to each organization of a tenant, and to each tenant where there are more than places', () => {
    const all = turns();
    const seen = new Set<string>();
    const alphabet = waiting(...'bcdefghijklmnopqrstuvwxyz');
    for (let round = 0; round < 26 * 10; round += 1)
      for (const { of } of all.give([...children(40), ...alphabet], 4)) seen.add(of.organizationId);
    expect(seen.size).toBe(40 + alphabet.length);
  });

  it('give whoever waits alone all places, and another one the odd place each time', () => {
    const all = turns();
    expect(told(all.give(waiting('a1'), 5))).toEqual(['a1: 5']);
    const both = waiting('a1', 'b1');
    expect([told(all.give(both, 3)), told(all.give(both, 3))]).toEqual([
      ['a1: 2', 'b1: 1'],
      ['b1: 2', 'a1: 1'],
    ]);
    expect(all.give([], 5)).toEqual([]);
  });
});
