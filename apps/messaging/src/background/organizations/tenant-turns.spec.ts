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

  it('go by organization in a tenant, however many channels and lanes one of them has', () => {
    const all = turns();
    const many = Array.from({ length: 30 }, (_, lane) => ({ organizationId: 'a1', lane }));
    const seen = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const given = all.give(
        [...many, { organizationId: 'a2', lane: 0 }, { organizationId: 'b1', lane: 0 }],
        12,
      );
      const of = (id: string): number =>
        given.reduce((sum, turn) => sum + (turn.of.organizationId === id ? turn.places : 0), 0);
      expect([of('a1'), of('a2'), of('b1')]).toEqual([3, 3, 6]);
      for (const turn of given) if (turn.of.organizationId === 'a1') seen.add(turn.of.lane);
    }
    expect(seen.size).toBe(many.length);
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
