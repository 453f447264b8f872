import fc from 'fast-check';
import { cutEnds, plainText } from './texts.js';

describe('cutEnds', () => {
  it.each([
    ['\u00a0 Paz\u3000', 'Paz'],
    ['\u200e\u2067Paz Soto\u2069\u200f', 'Paz Soto'],
    ['\ufeff\u00adPaz\u200b\r\n', 'Paz'],
    ['Paz\u00a0Soto', 'Paz\u00a0Soto'],
    ['\u200b\u2060', ''],
  ])('reads %j as %j', (text, cut) => {
    expect(cutEnds(text)).toBe(cut);
  });

  it('leaves what belongs to a letter', () => {
    for (const text of ['\u2764\ufe0f', '\u845b\u{e0100}', '\u0646\u0647\u200c'])
      expect(cutEnds(text)).toBe(text);
  });

  it('cuts all that `trim` cuts, and nothing twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(cutEnds(text.trim())).toBe(cutEnds(text));
        expect(cutEnds(cutEnds(text))).toBe(cutEnds(text));
      }),
    );
  });
});

describe('plainText', () => {
  it('drops what nobody sees, composes letters and leaves blanks', () => {
    expect(plainText(' c\u200bli\u00ade\u0301n\u200f ')).toBe(' clién ');
    expect(plainText('a\u00ad\u0301')).toBe('á');
    expect(plainText('a\u00a0b')).toBe('a\u00a0b');
  });
});
