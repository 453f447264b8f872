import { TEXT_EDGES } from '@customer-platform/testing';
import { identifierForms, plainIdentifier } from './identifiers.js';

const NFC = 'Mu\u00f1oz-7';
const NFD = 'Mun\u0303oz-7';

describe('plainIdentifier', () => {
  it.each([
    [NFD, NFC],
    ['\u200bMu\u00f1\u00adoz\u200f-7', NFC],
    ['\u00a0Mu\u00f1oz-7\u3000', NFC],
    ['7\u00a0Mu\u00f1oz', '7 Mu\u00f1oz'],
    ['\u2066A-7\u2069', 'A-7'],
  ])('reads %j as %j', (value, plain) => {
    expect(plainIdentifier(value)).toBe(plain);
  });

  it.each([' A-7 ', 'a-7', 'A-7', 'a\tb', 'NULL'])('leaves %j of ASCII as it is', (value) => {
    expect(plainIdentifier(value)).toBe(value);
  });

  it('keeps what is more than a writing of it: case, joiners, full width', () => {
    for (const value of ['\u00f1', '\u00d1', '\u0646\u0627\u0645\u0647\u200c\u0627\u06cc', '\uff21'])
      expect(plainIdentifier(value)).toBe(value);
  });

  it('is its own plain form, never empty, and no longer than what is taken', () => {
    for (const value of [
      ...TEXT_EDGES,
      '\u200b',
      '\u00a0',
      '\u{1d160}'.repeat(100),
      '\u{1d160}'.repeat(20),
    ]) {
      const plain = plainIdentifier(value);
      expect(plainIdentifier(plain)).toBe(plain);
      expect(plain === '').toBe(value === '');
      expect(plain.length).toBeLessThanOrEqual(Math.max(value.length, 200));
    }
  });
});

describe('identifierForms', () => {
  it('begins with the text as it is written', () => {
    expect(identifierForms('A-7')).toEqual(['A-7']);
    expect(identifierForms(NFC)).toEqual([NFC, NFD]);
    expect(identifierForms(NFD)).toEqual([NFD, NFC]);
    expect(identifierForms(`${NFC}\u200b`)).toEqual([`${NFC}\u200b`, NFC, NFD]);
    expect(identifierForms('A-7\u200b')).toEqual(['A-7\u200b', 'A-7']);
  });
});
