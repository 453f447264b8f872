import { modeOf, sameWish, wishOf, withOverride } from './wish.ts';

describe('what is wished for of a taxonomy', () => {
  it('is what is installed, else a warning', () => {
    expect(wishOf(null)).toEqual({ mode: 'warn', overrides: {} });
    const installed = { version: '1.0.0', mode: 'strict', overrides: { a: 'off' } } as const;
    expect(wishOf(installed)).toEqual({ mode: 'strict', overrides: { a: 'off' } });
  });

  it('has modes of single events, which go again', () => {
    const wish = withOverride(wishOf(null), 'a', 'strict');
    expect(wish.overrides).toEqual({ a: 'strict' });
    expect(withOverride(wish, 'a', 'off').overrides).toEqual({ a: 'off' });
    expect(withOverride(wish, 'a', undefined)).toEqual(wishOf(null));
  });

  it('is the same in whatever order its events are', () => {
    const one = withOverride(withOverride(wishOf(null), 'a', 'off'), 'b', 'strict');
    const other = withOverride(withOverride(wishOf(null), 'b', 'strict'), 'a', 'off');
    expect(sameWish(one, other)).toBe(true);
    expect(sameWish(one, withOverride(one, 'b', undefined))).toBe(false);
    expect(sameWish(one, { ...one, mode: 'off' })).toBe(false);
  });

  it('knows three modes', () => {
    expect(['off', 'warn', 'strict', '', 'loud'].map(modeOf)).toEqual([
      'off',
      'warn',
      'strict',
      undefined,
      undefined,
    ]);
  });
});
