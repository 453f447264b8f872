import { jest } from '@jest/globals';
import { contains } from '@customer-platform/http';
import fc from 'fast-check';
import { Contents, TextIndex } from './contents.js';

/** Of few letters, so that most of what is looked for is nearly found. */
const texts = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength }).map((letters) => letters.join(''));

describe('the index of a text', () => {
  it('contains what the text does', () => {
    fc.assert(
      fc.property(texts(60), fc.array(texts(8), { maxLength: 40 }), (text, parts) => {
        const index = new TextIndex(text);
        expect(parts.map((part) => index.contains(part))).toEqual(parts.map((part) => text.includes(part)));
      }),
    );
  });
});

describe('questions about the same values', () => {
  it('are answered as one alone, however many there are', () => {
    const scalar = fc.oneof(texts(6), fc.integer({ min: 0, max: 3 }), fc.boolean());
    const value = fc.oneof(texts(40), fc.array(scalar, { maxLength: 6 }), scalar);
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 3 }),
        fc.array(scalar, { maxLength: 60 }),
        (values, all) => {
          const contents = new Contents(2);
          for (const wanted of all) {
            for (const actual of values)
              expect(contents.contains(actual, wanted)).toBe(contains(actual, wanted));
          }
        },
      ),
    );
  });

  it('look into a text a few times only', () => {
    const text = 'ab'.repeat(200);
    const contents = new Contents();
    const looks = jest.spyOn(String.prototype, 'charCodeAt');
    for (let at = 0; at < 5_000; at++) contents.contains(text, `${'ab'.repeat(5)}${at}`);
    const count = looks.mock.calls.length;
    looks.mockRestore();
    // 256 searches and the index; each further question costs its own few units.
    expect(count).toBeLessThan(256 * 6 * text.length + text.length + 5_000 * 20);
  });
});
