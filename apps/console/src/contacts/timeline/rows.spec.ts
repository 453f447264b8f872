import type { Chain } from './chains.ts';
import { rowsOf } from './rows.ts';

describe('the rows of a timeline', () => {
  it('name each day once, above its chains', () => {
    const rows = rowsOf([chain('a', noon(3)), chain('b', noon(3)), chain('c', noon(1))], []);
    expect(rows.map(({ kind, key }) => (kind === 'chain' ? key : kind))).toEqual([
      'day',
      'a',
      'b',
      'day',
      'c',
    ]);
  });

  it('say that a source is silent where its items are missing from', () => {
    const hole = { source: 'loyalty', before: noon(3), since: noon(1) } as const;
    const rows = rowsOf([chain('a', noon(3)), chain('b', noon(2))], [hole]);
    expect(rows.map(({ kind }) => kind)).toEqual(['day', 'chain', 'hole', 'day', 'chain']);
  });

  it('say so where nothing else is, too', () => {
    const hole = { source: 'core', before: undefined, since: undefined } as const;
    expect(rowsOf([], [hole])).toMatchObject([{ kind: 'hole' }]);
  });
});

/** Noon of a day in the zone of whoever looks. */
function noon(day: number): string {
  return new Date(2026, 10, day, 12).toISOString();
}

function chain(key: string, at: string): Chain {
  return { key, at, correlationId: key, items: [] };
}
