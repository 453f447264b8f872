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
    const missing = { source: 'loyalty', before: noon(3), since: noon(1) } as const;
    const rows = rowsOf([chain('a', noon(3)), chain('b', noon(2))], [missing]);
    expect(rows.map(({ kind }) => kind)).toEqual(['day', 'chain', 'unreachable', 'day', 'chain']);
  });

  it('say so where nothing else is, too', () => {
    const missing = { source: 'core', before: undefined, since: undefined } as const;
    expect(rowsOf([], [missing])).toMatchObject([{ kind: 'unreachable' }]);
  });
});

/** Noon of a day in the zone of whoever looks. */
function noon(day: number): string {
  return new Date(2026, 10, day, 12).toISOString();
}

function chain(key: string, at: string): Chain {
  return { key, at, correlationId: key, items: [] };
}
