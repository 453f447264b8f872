import { withoutOld, type DkimPair } from './dkim-pairs.js';

const NOW = new Date('2026-03-10T12:00:00Z');
const DAY = 86_400_000;

function pair(selector: string, daysAgo: number | null): DkimPair {
  const key = { public: 'AAAA', private: null };
  const retired_at = daysAgo === null ? null : new Date(NOW.getTime() - daysAgo * DAY).toISOString();
  return { selector, use: daysAgo === null ? 'signing' : 'retired', rsa: key, ed25519: key, retired_at };
}

function kept(...pairs: DkimPair[]): string[] {
  return withoutOld(pairs, NOW).map(({ selector }) => selector);
}

describe('withoutOld', () => {
  it('keeps a pair for a week after it has signed', () => {
    expect(kept(pair('now', null), pair('new', 6.9), pair('old', 7))).toEqual(['now', 'new']);
  });

  it('keeps the newest five, however many rotations there were', () => {
    const former = Array.from({ length: 9 }, (_, at) => pair(String(at), at / 10));
    expect(kept(pair('now', null), ...former)).toEqual(['now', '0', '1', '2', '3', '4']);
  });
});
