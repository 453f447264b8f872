import { WeightedCache } from './weighted-cache.js';

const BOUNDS = { most: 10, large: 4, mostLarge: 12 };

describe('what is kept by its weight', () => {
  let kept: WeightedCache<string>;
  const keep = (key: string, weight: number): void => kept.keep(key, `${key} of ${String(weight)}`, weight);
  const those = (keys: string): string => [...keys].filter((key) => kept.has(key)).join('');
  beforeEach(() => {
    kept = new WeightedCache(BOUNDS);
  });

  it('loses what was not asked for the longest', () => {
    for (const key of 'abcde') keep(key, 2);
    expect(kept.get('a')).toBe('a of 2');
    keep('f', 2);
    expect(those('abcdef')).toBe('acdef');
  });

  it('loses nothing to large ones, which push out one another', () => {
    for (const key of 'ab') keep(key, 4);
    for (const key of 'XYZ') keep(key, 6);
    expect(those('abXYZ')).toBe('abYZ');
    keep('X', 100);
    expect(those('abXYZ')).toBe('abX');
    expect(kept.get('X')).toBe('X of 100');
  });

  it('moves what has grown, or shrunk', () => {
    keep('a', 4);
    keep('a', 5);
    for (const key of 'bcd') keep(key, 4);
    expect(those('abcd')).toBe('acd');
    expect(kept.get('a')).toBe('a of 5');
    keep('a', 1);
    for (const key of 'XY') keep(key, 6);
    expect(those('aXY')).toBe('aXY');
    expect(kept.get('a')).toBe('a of 1');
  });
});
