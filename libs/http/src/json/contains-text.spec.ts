import { jest } from '@jest/globals';
import fc from 'fast-check';
import { containsText } from './contains-text.js';

/** Of few letters, so that a part is often nearly found; one of them is half of a pair of surrogates. */
const texts = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('a', 'b', '\ud83d'), { maxLength }).map((units) => units.join(''));

describe('A search for a text within another', () => {
  it('answers as the engine does', () => {
    fc.assert(
      fc.property(texts(60), texts(6), (text, part) => {
        expect(containsText(text, part)).toBe(text.includes(part));
      }),
    );
  });

  it('finds every part of a text', () => {
    fc.assert(
      fc.property(texts(60), fc.nat(), fc.nat(), (text, start, end) => {
        expect(containsText(text, text.slice(start % (text.length + 1), end % (text.length + 1)))).toBe(true);
      }),
    );
  });

  it('looks at each unit a few times only, however nearly the part is found', () => {
    const half = 'a'.repeat(1_000);
    for (const [text, part] of [
      ['a'.repeat(20_000), `${half}b${half}`],
      [`${half}c`.repeat(20), `${half}b`],
      ['ab'.repeat(10_000), `${'ab'.repeat(1_000)}b`],
    ] as const) {
      const looks = jest.spyOn(String.prototype, 'charCodeAt');
      const found = containsText(text, part);
      const count = looks.mock.calls.length;
      looks.mockRestore();
      expect(found).toBe(false);
      expect(count).toBeLessThan(6 * (text.length + part.length));
    }
  });
});
