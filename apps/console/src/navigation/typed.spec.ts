import { isFoundIn, isRutBegun, phonesIn, rutIn } from './typed.ts';

describe('a phone number that is typed', () => {
  it.each([
    ['+56 9 8765 4321', ['56987654321']],
    ['+56 (9) 8765-4321', ['56987654321']],
    ['9 8765 4321', ['56987654321', '987654321']],
    ['09 8765 4321', ['56987654321', '987654321']],
    ['987.654.321', ['56987654321', '987654321']],
    ['987654', ['987654']],
  ])('%s is read as %j', (typed, expected) => {
    expect(phonesIn(typed)).toEqual(expected);
  });

  it.each(['12345', 'order 1001', 'ana 987654', '', '+', '((((((', 'ana@example.com'])(
    '%s is none',
    (typed) => {
      expect(phonesIn(typed)).toEqual([]);
    },
  );
});

describe('a RUT that is typed', () => {
  it.each([
    ['12.345.678-5', '12345678-5'],
    ['12345678-5', '12345678-5'],
    ['12.345.6785', '12345678-5'],
    ['10000013k', '10000013-K'],
    ['10.000.013-k', '10000013-K'],
    ['7.654.321-6', '7654321-6'],
  ])('%s is read as %s', (typed, expected) => {
    expect(rutIn(typed)).toBe(expected);
  });

  it.each(['12.345.678-4', '12.345.678', '123456785', 'ana', '', '123.456.789-1'])('%s is none', (typed) => {
    expect(rutIn(typed)).toBeUndefined();
  });
});

describe('what may be a RUT', () => {
  it.each([
    '12.345.678-5',
    '12345678-5',
    '12.345.6785',
    '10000013k',
    '12.345.678-4',
    '12345678-4',
    '12.345.678-',
    '12345678-',
    '12.345.678',
    '7.654.32',
    '7.654.',
    ' 7.654.321-6 ',
  ])('%s has its shape', (typed) => {
    expect(isRutBegun(typed)).toBe(true);
  });

  it.each(['12345678', '987.654.321', '9 8765 4321', '8765-4321', '20240101-12', '1.250', 'ana', ''])(
    '%s has not',
    (typed) => {
      expect(isRutBegun(typed)).toBe(false);
    },
  );
});

describe('a page that is looked for', () => {
  it('is found by the beginnings of its words, without case and accents', () => {
    expect(isFoundIn('Crear una campaña', 'CAMPANA cre')).toBe(true);
    expect(isFoundIn('Canales', 'ana')).toBe(false);
    expect(isFoundIn('Canales', '')).toBe(true);
  });
});
