import fc from 'fast-check';
import { isPlaceholder } from './placeholder-identifiers.js';

const SPELLINGS = [
  'null',
  'nil',
  'none',
  'undefined',
  'unknown',
  'anonymous',
  'guest',
  'n/a',
  'nan',
  'true',
  'false',
  '-1',
  '[object Object]',
  '',
  '0',
  '000',
  '-',
  '0-0',
  '00000000-0000-0000-0000-000000000000',
];

describe('isPlaceholder', () => {
  it.each(SPELLINGS)('refuses %p in any case, quoted and bracketed', (spelling) => {
    const cases = [spelling, spelling.toUpperCase(), spelling.charAt(0).toUpperCase() + spelling.slice(1)];
    for (const text of cases) {
      const wrapped = [text, `"${text}"`, `'${text}'`, `\`${text}\``, `“${text}”`, `«${text}»`];
      wrapped.push(`(${text})`, `[${text}]`, `{${text}}`, `<${text}>`, ` ${text}\t`, `["${text}"]`);
      for (const form of wrapped) expect([form, isPlaceholder(form)]).toEqual([form, true]);
    }
  });

  it('sees through full-width letters and what nobody sees', () => {
    for (const text of ['null\u200b', 'nu\u00adll', '\u200e\u00a00', '\ufeff'])
      expect(isPlaceholder(text)).toBe(true);
    expect(isPlaceholder('ｎｕｌｌ')).toBe(true);
  });

  it.each([
    '1',
    '10',
    '01',
    '-10',
    'nullable',
    'guest-17',
    'Nunca',
    'trueno',
    'anonymous@x.cl',
    'object',
    'N0NE',
  ])('takes %p', (value) => {
    expect(isPlaceholder(value)).toBe(false);
  });

  it('takes every other identifier that ends in a number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,9}-[1-9][0-9]{0,9}$/), (value) => {
        expect(isPlaceholder(value)).toBe(false);
      }),
    );
  });
});
