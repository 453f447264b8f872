import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { NO_NUMBER, plainOf, readNumber, writeNumber } from './number-text.ts';

describe('a number as it is typed', () => {
  it.each<[string, number | undefined, number | undefined]>([
    ['10.000', 10_000, 10],
    ['10,000', 10, 10_000],
    ['12,5', 12.5, 12.5],
    ['12.5', 12.5, 12.5],
    ['1.234,5', 1_234.5, undefined],
    ['1,234.5', undefined, 1_234.5],
    ['1.234.567', 1_234_567, undefined],
    ['1,234,567', undefined, 1_234_567],
    ['0.500', 0.5, 0.5],
    ['0,125', 0.125, 0.125],
    ['1.2345', 1.2345, 1.2345],
    ['1234.567', 1_234.567, 1_234.567],
    ['-10.000', -10_000, -10],
    [',5', 0.5, undefined],
    ['.5', undefined, 0.5],
    [' 42 ', 42, 42],
    ['12,', 12, 12],
    ['007', 7, 7],
    ['-0', 0, 0],
    ['9007199254740991', 9_007_199_254_740_991, 9_007_199_254_740_991],
    ['9007199254740992', undefined, undefined],
    ['9.007.199.254.740.993', undefined, undefined],
    ['0,12345678901234567890', undefined, undefined],
    ['1.2.3', undefined, undefined],
    ['12.34.567', undefined, undefined],
    ['12 990', undefined, undefined],
    ['+5', undefined, undefined],
    ['1e3', undefined, undefined],
    ['0x10', undefined, undefined],
    ['Infinity', undefined, undefined],
    ['-', undefined, undefined],
    ['.', undefined, undefined],
    ['', undefined, undefined],
    ['diez', undefined, undefined],
  ])('%j is %s in Spanish and %s in English', (text, spanish, english) => {
    expect([readNumber(text, 'es-CL'), readNumber(text, 'en')]).toEqual([spanish, english]);
  });

  it.each(['es-CL', 'en'])('is read as it is written, in %s', (locale) => {
    const grouped = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -99_999, max: 99_999 })), (whole) => {
        for (const number of [whole, whole / 1_000].filter(Number.isFinite)) {
          const plain = number === 0 ? 0 : number;
          expect(readNumber(writeNumber(String(number), locale), locale)).toBe(plain);
          expect(readNumber(grouped.format(number), locale)).toBe(plain);
        }
      }),
    );
  });

  it('is written without marks of thousands, and as it stands where it cannot be read back', () => {
    expect(writeNumber('12990.5', 'es-CL')).toBe('12990,5');
    expect(writeNumber('12990', 'en')).toBe('12990');
    for (const text of ['', '1e+21', '1e-30', '1.2.3', 'diez']) expect(writeNumber(text, 'en')).toBe(text);
  });

  it('stands in a draft as JSON writes it, and never as another number than was meant', () => {
    expect(plainOf('10.000', 'es-CL')).toBe('10000');
    expect(plainOf('12,5', 'es-CL')).toBe('12.5');
    expect(plainOf(' ', 'es-CL')).toBe('');
    expect(plainOf('1.2.3', 'es-CL')).toBe('1.2.3');
    for (const text of ['1e3', '0x10', 'Infinity', '1,234.5', '9007199254740993'])
      expect(Number(plainOf(text, 'es-CL'))).toBeNaN();
    expect(plainOf('1e3', 'en')).toBe(NO_NUMBER);
  });
});

describe('a field for a number', () => {
  it("is none of the browser's, which reads marks by a language of its own", () => {
    const sources = resolve(import.meta.dirname, '..');
    const files = globSync('**/*.tsx', { cwd: sources });
    expect(files.length).toBeGreaterThan(100);
    expect(
      files.filter((path) => readFileSync(resolve(sources, path), 'utf8').includes('type="number"')),
    ).toEqual([]);
  });
});
