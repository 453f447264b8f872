import fc from 'fast-check';
import { canonicalLocale } from '../index.js';
import { LANGUAGE_TAG } from './locales.js';

describe('a language tag', () => {
  it.each([
    ['es-cl', 'es-CL'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['ca-es-valencia', 'ca-ES-valencia'],
    ['es-419', 'es-419'],
  ])('%s is %s', (text, canonical) => expect(canonicalLocale(text)).toBe(canonical));

  it.each(['', 'e', 'es_CL', 'es-', 'español', 'es-CL-u-nu-latn', 'x-klingon', 'es\n'])(
    '%j is none',
    (text) => expect(canonicalLocale(text)).toBeUndefined(),
  );

  it('is one whenever it is of the described form: what the description takes is taken', () => {
    fc.assert(
      fc.property(fc.stringMatching(LANGUAGE_TAG), (text) => canonicalLocale(text) !== undefined),
      { numRuns: 2_000 },
    );
  });
});
