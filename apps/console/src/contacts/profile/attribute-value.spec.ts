import { asTyped, asValue } from './attribute-value.ts';

describe('the value of an attribute', () => {
  it.each([
    'gold',
    '',
    '{half',
    42,
    12.5,
    1e21,
    '10.000',
    '12,5',
    true,
    null,
    ['a', 'b'],
    { plan: 'gold' },
    '42',
    'true',
    '"quoted"',
  ])('is %j again after it was shown and typed', (value) => {
    expect(asValue(asTyped(value, 'en'), 'en')).toEqual(value);
    expect(asValue(asTyped(value, 'es-CL'), 'es-CL')).toEqual(value);
  });

  it('is a text where a number would be another than was typed', () => {
    for (const digits of ['9007199254740993', '-12345678901234567891', '9'.repeat(400)])
      expect(asValue(asTyped(asValue(digits, 'en'), 'en'), 'en')).toBe(digits);
    expect(asValue('{"order": 9007199254740993}', 'en')).toBe('{"order": 9007199254740993}');
    expect(asValue('9007199254740992', 'en')).toBe(9_007_199_254_740_992);
  });

  it('is the number that its language writes so', () => {
    expect([asValue('10.000', 'es-CL'), asValue('10.000', 'en'), asValue('10,000', 'en')]).toEqual([
      10_000, 10, 10_000,
    ]);
    expect([asTyped(12.5, 'es-CL'), asTyped('10.000', 'es-CL')]).toEqual(['12,5', '"10.000"']);
  });

  it('is a text where it is no JSON', () => {
    expect(asValue('Calle Larga 12', 'en')).toBe('Calle Larga 12');
    expect(asTyped('42', 'en')).toBe('"42"');
  });
});
