import { endOf } from './expiry.ts';

describe('the end of a key', () => {
  it('is so many days from now, also over the end of a year', () => {
    expect(endOf('30', new Date('2026-12-15T10:00:00.000Z'))).toBe('2027-01-14T10:00:00.000Z');
  });

  it('may be left open', () => {
    expect(endOf('never', new Date())).toBeNull();
  });
});
