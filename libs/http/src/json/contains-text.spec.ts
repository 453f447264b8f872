import fc from 'fast-check';
import { containsText } from './contains-text.js';

/** Of few letters, so that a part is often nearly found; one of them is half of a pair of surrogates. */
const texts = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('a', 'b', '\ud83d'), { maxLength }).map((units) => units.join(''));

/** How often a search looks at a unit. By hand: a spy would keep each of the calls, with its text. */
function counted(search: () => boolean): { found: boolean; count: number } {
  const look = Object.getOwnPropertyDescriptor(String.prototype, 'charCodeAt');
  if (!look) throw new Error('Texts have no units');
  let count = 0;
  const value = function (this: string, at: number): number {
    count += 1;
    return (look.value as (at: number) => number).call(this, at);
  };
  Object.defineProperty(String.prototype, 'charCodeAt', { ...look, value });
  try {
    return { found: search(), count };
  } finally {
    Object.defineProperty(String.prototype, 'charCodeAt', look);
  }
}

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
      const { found, count } = counted(() => containsText(text, part));
      expect(found).toBe(false);
      expect(count).toBeLessThan(6 * (text.length + part.length));
    }
  });
});
