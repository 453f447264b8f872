import { modeOf, isSameDraft, enforcementDraftOf, withOverride } from './enforcement-draft.ts';

describe('what is wished for of a taxonomy', () => {
  it('is what is installed, else a warning', () => {
    expect(enforcementDraftOf(null)).toEqual({ mode: 'warn', overrides: {} });
    const installed = { version: '1.0.0', mode: 'strict', overrides: { a: 'off' } } as const;
    expect(enforcementDraftOf(installed)).toEqual({ mode: 'strict', overrides: { a: 'off' } });
  });

  it('has modes of single events, which go again', () => {
    const draft = withOverride(enforcementDraftOf(null), 'a', 'strict');
    expect(draft.overrides).toEqual({ a: 'strict' });
    expect(withOverride(draft, 'a', 'off').overrides).toEqual({ a: 'off' });
    expect(withOverride(draft, 'a', undefined)).toEqual(enforcementDraftOf(null));
  });

  it('is the same in whatever order its events are', () => {
    const one = withOverride(withOverride(enforcementDraftOf(null), 'a', 'off'), 'b', 'strict');
    const other = withOverride(withOverride(enforcementDraftOf(null), 'b', 'strict'), 'a', 'off');
    expect(isSameDraft(one, other)).toBe(true);
    expect(isSameDraft(one, withOverride(one, 'b', undefined))).toBe(false);
    expect(isSameDraft(one, { ...one, mode: 'off' })).toBe(false);
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
