import { LatestTurns } from './latest-turns.js';

/** Organizations are called after their tenants: `a1`, `a2`. */
const owner = (organizationId: string) => ({ tenant: organizationId.slice(0, 1), organizationId });

describe('latest turns', () => {
  it('have tenants follow each other, and within a tenant its organizations', () => {
    const turns = new LatestTurns();
    const waiting = [...Array.from({ length: 1_000 }, (_, at) => `a${String(at)}`), 'b1', 'c1', 'c2'].map(
      owner,
    );
    const made = Array.from({ length: 9 }, () => {
      const [next] = turns.inOrder(waiting);
      if (next) turns.had(next);
      return next?.organizationId;
    });
    expect(made).toEqual(['a0', 'b1', 'c1', 'a1', 'b1', 'c2', 'a2', 'b1', 'c1']);
    expect(turns.tenants).toEqual(['a', 'b', 'c']);
    expect(turns.organizations).toEqual(['a0', 'a1', 'c2', 'a2', 'b1', 'c1']);
  });

  it('are forgotten once nobody waits, and beyond a number of names', () => {
    const turns = new LatestTurns();
    for (let at = 0; at <= 1_000; at += 1) turns.had(owner(`a${String(at)}`));
    expect(turns.organizations).toHaveLength(1_000);
    expect(turns.organizations[0]).toBe('a1');
    const more = new LatestTurns(1_001);
    for (let at = 0; at <= 1_001; at += 1) more.had(owner(`a${String(at)}`));
    expect(more.organizations).toHaveLength(1_001);
    turns.forget();
    expect([turns.tenants, turns.organizations]).toEqual([[], []]);
  });
});
