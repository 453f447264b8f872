import { asTyped, asValue } from './attribute-value.ts';

describe('the value of an attribute', () => {
  it.each(['gold', '', '{half', 42, true, null, ['a', 'b'], { plan: 'gold' }, '42', 'true', '"quoted"'])(
    'is %j again after it was shown and typed',
    (value) => {
      expect(asValue(asTyped(value))).toEqual(value);
    },
  );

  it('is a text where it is no JSON', () => {
    expect(asValue('Calle Larga 12')).toBe('Calle Larga 12');
    expect(asTyped('42')).toBe('"42"');
  });
});
