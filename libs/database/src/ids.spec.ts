import { isUuid } from '@customer-platform/http';
import { newId } from './ids.js';

describe('newId', () => {
  const ids = Array.from({ length: 20_000 }, newId);

  it('sorts by the time of making, within a millisecond, too', () => {
    expect(ids).toEqual([...ids].sort());
  });

  it('is a version 7 that is there once, its last bytes random', () => {
    expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true);
    const ends = new Set(ids.map((id) => id.slice(24)));
    expect(ends.size).toBe(ids.length);
  });

  it('tells the time of making', () => {
    const [before, id, after] = [Date.now(), newId(), Date.now()];
    const made = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    expect(made).toBeGreaterThanOrEqual(before);
    // An earlier id of the same process may have filled its millisecond.
    expect(made).toBeLessThanOrEqual(after + 1);
  });
});
