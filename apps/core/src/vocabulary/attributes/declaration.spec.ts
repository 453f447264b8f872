import fc from 'fast-check';
import {
  checkDeclared,
  convertDeclared,
  DECLARED_TYPES,
  takesAllOf,
  type Declaration,
  type DeclaredType,
} from './declaration.js';

const of = (type: DeclaredType, more: Partial<Declaration> = {}): Declaration => ({
  ...{ type, enum: null, max_length: null, min: null, max: null },
  ...more,
});

describe('a value of another type', () => {
  it.each<[unknown, DeclaredType, unknown]>([
    ['42', 'integer', 42],
    ['-1.5', 'number', -1.5],
    [42, 'string', '42'],
    [true, 'string', 'true'],
    ['false', 'boolean', false],
    ['2026-01-31', 'datetime', '2026-01-31T00:00:00.000Z'],
    ['2026-01-30T21:00:00-03:00', 'date', '2026-01-31'],
    ['a', 'string_list', ['a']],
    [['a'], 'string', 'a'],
  ])('%j as %s is %j, where nothing is lost', (value, type, expected) => {
    expect(convertDeclared(of(type), value)).toEqual({ value: expected });
  });

  it.each<[unknown, DeclaredType]>([
    ['007', 'integer'],
    ['1.5', 'integer'],
    ['9007199254740993', 'integer'],
    ['0.1234567890123456789', 'number'],
    ['1e3', 'number'],
    ['1.10', 'number'],
    ['2.0', 'number'],
    ['-0', 'integer'],
    ['-0.0', 'number'],
    ['', 'number'],
    ['yes', 'boolean'],
    [1, 'boolean'],
    ['2026-02-30', 'date'],
    ['2026-01-31T12:00:00Z', 'date'],
    ['2026-01-31T12:00:00', 'datetime'],
    [['a', 'b'], 'string'],
    [{ a: 1 }, 'string'],
    [[1], 'string_list'],
  ])('%j as %s would be lost', (value, type) => {
    expect(convertDeclared(of(type), value)).toHaveProperty('code');
  });

  it('a number of a text is that text again, whatever it is', () => {
    const text = fc.oneof(
      fc.stringMatching(/^-?[0-9]{1,4}(\.[0-9]{1,4})?$/),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    );
    fc.assert(
      fc.property(text, (sent) => {
        const as = convertDeclared(of('number'), sent);
        // JavaScript writes some small ones by their exponent.
        if ('code' in as || String(as.value).includes('e')) return;
        expect(String(as.value)).toBe(sent);
        expect(JSON.stringify(as.value)).toBe(sent);
      }),
    );
  });

  it('converted once it stays, whatever it is and to whatever type', () => {
    const value = fc.oneof(fc.jsonValue(), fc.string(), fc.integer().map(String), fc.date().map(String));
    fc.assert(
      fc.property(value, fc.constantFrom(...DECLARED_TYPES), (sent, type) => {
        const once = convertDeclared(of(type), sent);
        if ('code' in once) return;
        expect(checkDeclared(of(type), once.value)).toEqual(once);
      }),
    );
  });
});

describe('bounds', () => {
  it('say what is beyond them, and what takes less takes not all', () => {
    expect(checkDeclared(of('string', { max_length: 2 }), 'abc')).toMatchObject({ code: 'too_long' });
    expect(checkDeclared(of('string', { enum: ['a'] }), 'b')).toMatchObject({ code: 'invalid_enum' });
    expect(checkDeclared(of('string_list', { enum: ['a'] }), ['a', 'b'])).toMatchObject({
      code: 'invalid_enum',
    });
    expect(checkDeclared(of('integer', { min: 1 }), 0)).toMatchObject({ code: 'out_of_range' });
    expect(checkDeclared(of('number', { max: 1 }), 1.1)).toMatchObject({ code: 'out_of_range' });
    expect(takesAllOf(of('integer'), of('integer', { min: 1 }))).toBe(true);
    expect(takesAllOf(of('integer', { min: 1 }), of('integer'))).toBe(false);
    expect(takesAllOf(of('string', { enum: ['a', 'b'] }), of('string', { enum: ['a'] }))).toBe(true);
    expect(takesAllOf(of('string', { enum: ['a'] }), of('string'))).toBe(false);
    expect(takesAllOf(of('string', { max_length: 3 }), of('string', { max_length: 2 }))).toBe(true);
    expect(takesAllOf(of('number'), of('integer'))).toBe(false);
  });
});
