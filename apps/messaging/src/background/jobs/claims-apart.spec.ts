import { Clock } from '@customer-platform/database';
import { ClaimsApart } from './claims-apart.js';

describe('claims of many places', () => {
  const names = (place: string): string => place;

  it('find the one at fault beside others of which something is due each time, and come to those behind it', async () => {
    const claims = new ClaimsApart('claims', new Clock(), names);
    const claimed: string[] = [];
    const claim = async (some: readonly string[]): Promise<readonly string[]> => {
      await Promise.resolve();
      if (some.includes('at fault')) throw new Error('It cannot be claimed');
      claimed.push(...some);
      return some;
    };
    for (let pass = 0; pass < 8; pass += 1) await claims.take(['before', 'at fault', 'behind'], claim);
    expect(claims.waiting()).toEqual(['at fault']);
    expect(claimed).toContain('behind');
    expect(claims.doubts).toBe(false);
  });
});
