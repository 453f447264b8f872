import fc from 'fast-check';
import { eventIdOf } from './event-id.js';

const ORGANIZATION = '01934e5a-0000-7000-8000-000000000001';
const OTHER = '01934e5a-0000-7000-8000-000000000002';

describe('eventIdOf', () => {
  it('is a UUID version 8 for every key', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' }), (key) => {
        expect(eventIdOf(ORGANIZATION, key)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  it('answers a retry with the same id', () => {
    expect(eventIdOf(ORGANIZATION, 'INV-1')).toBe(eventIdOf(ORGANIZATION, 'INV-1'));
  });

  it('never changes from one release to the next', () => {
    expect(eventIdOf(ORGANIZATION, 'INV-1')).toBe('31e45a7e-9d52-8843-85fd-ec80cf1781b2');
  });

  it('tells two organizations and two keys apart', () => {
    const ids = new Set([
      eventIdOf(ORGANIZATION, 'INV-1'),
      eventIdOf(OTHER, 'INV-1'),
      eventIdOf(ORGANIZATION, 'INV-2'),
      eventIdOf(ORGANIZATION, 'inv-1'),
    ]);
    expect(ids.size).toBe(4);
  });
});
