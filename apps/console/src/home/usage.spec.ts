import { lastDays } from './usage.ts';

describe('the days of the first page', () => {
  it('are thirty, in UTC, also over the end of a month', () => {
    expect(lastDays(new Date('2026-03-01T00:30:00.000Z'))).toEqual({ from: '2026-01-31', to: '2026-03-01' });
  });
});
