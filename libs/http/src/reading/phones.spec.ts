import fc from 'fast-check';
import { matchedPhone, readPhone } from './phones.js';

describe('readPhone', () => {
  it.each([
    ['+56 9 8765 0012', null, '+56987650012'],
    ['9 8765 0012', 'CL', '+56987650012'],
    ['56987650012', 'CL', '+56987650012'],
    ['00 56 9 8765 0012', 'CL', '+56987650012'],
    ['11 2345-6789', 'AR', '+541123456789'],
    ['0341 423-4567', 'AR', '+543414234567'],
    ['+56 (9) 8765-0012', 'AR', '+56987650012'],
  ])('reads %s in %s as %s', (text, country, number) => {
    expect(readPhone(text, country)).toEqual({ number });
  });

  it.each([
    ['+56 (0)9 8765 0012', '+56987650012'],
    ['+44 (0)20 7123 4567', '+442071234567'],
    ['+33 (0)6 12 34 56 78', '+33612345678'],
    // Numbers of these countries begin with the zero, also for who calls from abroad.
    ['+39 (0)6 6981 2345', '+390669812345'],
    ['+39 (0)347 123 4567', '+393471234567'],
    ['+225 (0)7 12 34 56 78', '+2250712345678'],
  ])('takes the zero in brackets of %s for what the plan has: %s', (text, number) => {
    expect(readPhone(text, null)).toEqual({ number });
  });

  it.each([
    '+560987650011',
    '+56 09 8765 0011',
    '+1 000 000 0000',
    '+52 1 55 1234 5678',
    '+7 (0)912 345 67 890',
  ])('refuses %s, which no plan has', (text) => {
    expect(readPhone(text, null)).toEqual({ detail: expect.stringContaining('numbering plan') as string });
  });

  it.each([
    '56987650002.0',
    '56987650002,00',
    '5.69E+10',
    '5,69877E+10',
    '4369912345678.0',
    '+491511234567.0',
  ])('refuses %s, and says that a spreadsheet wrote it', (text) => {
    for (const country of ['CL', 'AT', 'DE', null]) {
      expect(readPhone(text, country)).toEqual({
        detail: expect.stringContaining('spreadsheet') as string,
      });
      expect(matchedPhone(text, country)).toBeUndefined();
    }
  });

  it.each([
    ['(09) 8765 0011', 'CL'],
    ['9 8765 0012', null],
    ['+56987650012;ext=5', null],
    ['call me +56987650012', null],
    ['', 'CL'],
  ])('refuses %p in %s', (text, country) => {
    expect(readPhone(text, country)).toHaveProperty('detail');
  });

  it('reads what it wrote as the same', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^\+?[0-9 ().-]{5,16}$/));
    fc.assert(
      fc.property(text, fc.constantFrom('CL', 'IT', 'US', 'XX', null), (given, country) => {
        const read = readPhone(given, country);
        if ('number' in read) expect(readPhone(read.number, null)).toEqual(read);
      }),
    );
  });
});

describe('matchedPhone', () => {
  it('finds what was stored when its length was enough, in every writing', () => {
    expect(matchedPhone('+560987650011', null)).toBe('+560987650011');
    expect(matchedPhone('(09) 8765 0011', 'CL')).toBe('+560987650011');
  });

  it.each([
    '\u202a+56 9 8765 0012\u202c',
    '\ufeff+56987650012',
    '+56987650012\ufeff',
    '\u2060 +569\u200b87650012',
  ])('reads %j as anybody sees it, as what is stored anew does', (text) => {
    expect(matchedPhone(text, null)).toBe('+56987650012');
    expect(readPhone(text, null)).toEqual({ number: '+56987650012' });
  });

  it('is the number that is stored today', () => {
    expect(matchedPhone('+56 (0)9 8765 0012', null)).toBe('+56987650012');
  });
});
