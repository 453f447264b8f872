import fc from 'fast-check';
import { inspectJson } from './inspect-json.js';

function inspect(text: string, level = 1) {
  return inspectJson(JSON.parse(text), text, { level }).named;
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

describe('inspectJson', () => {
  it('takes whatever JSON can carry', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20, stringUnit: 'binary' }), (text) => {
        fc.pre(!/__proto__|constructor|prototype|\\u0000/.test(text));
        // The shortest text of a large double is mostly another integer than the double.
        expect(inspect(text).filter(({ code }) => code !== 'out_of_range')).toEqual([]);
      }),
    );
  });

  it('takes 32 levels and refuses 33', () => {
    expect(inspect(nested(32))).toEqual([]);
    expect(inspect(nested(33))).toMatchObject([{ pointer: '/0'.repeat(32), code: 'not_allowed' }]);
  });

  it('counts the levels above an item of a batch', () => {
    expect(inspect(nested(30), 3)).toEqual([]);
    expect(inspect(nested(31), 3)).toHaveLength(1);
  });

  it('survives a body that is nothing but brackets', () => {
    expect(inspect(nested(15_000))).toHaveLength(1);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the name %s at any depth', (name) => {
    const text = `{"properties":{"a/b":[{"${name}":1}]}}`;
    expect(inspect(text)).toMatchObject([{ pointer: `/properties/a~1b/0/${name}`, code: 'not_allowed' }]);
    expect(
      inspect(text.replace(name, `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`)),
    ).toHaveLength(1);
  });

  it.each(['\\u0000', 'x\\ud800', '\\udc00\\ud800'])('refuses the text %s in values and names', (escape) => {
    expect(inspect(`{"a":"${escape}"}`)).toMatchObject([{ pointer: '/a', code: 'invalid_format' }]);
    const [error] = inspect(`{"${escape}":1}`);
    expect(error).toMatchObject({ code: 'invalid_format' });
    expect(error?.pointer?.isWellFormed()).toBe(true);
  });

  it('takes a surrogate pair that is escaped', () => {
    expect(inspect('{"a":"\\ud83d\\ude00"}')).toEqual([]);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '1e400',
    '-1e309',
    '9007199254740993.5',
  ])('refuses %s, which a double would change', (number) => {
    expect(inspect(`{"properties":{"n":[0,${number}]}}`)).toMatchObject([
      { pointer: '/properties/n/1', code: 'out_of_range' },
    ]);
  });

  it.each([
    '9007199254740991',
    '9007199254740992',
    '-9007199254740994',
    '1e20',
    '1.5e300',
    '100000000000000000000.00',
  ])('takes %s, or refuses it only when it is inexact', (number) => {
    const exact = Number.isInteger(Number(number)) && !number.startsWith('1.5e');
    expect(inspect(`[${number}]`)).toHaveLength(exact ? 0 : 1);
  });

  it('looks once at the zeros of a number, however many', () => {
    expect(inspect(`[9007199254740993.${'0'.repeat(30_000)}1]`)).toHaveLength(1);
  });

  it('agrees with exact arithmetic on every integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (integer) => {
        const exact = BigInt(Number(integer)) === integer;
        expect(inspect(`[${integer}]`)).toHaveLength(exact ? 0 : 1);
      }),
    );
  });
});

describe('what no JSON may contain', () => {
  const named = (value: unknown) => inspectJson(value, JSON.stringify(value)).named;
  const nestedObjects = (levels: number): unknown => (levels === 1 ? {} : { a: nestedObjects(levels - 1) });

  it('takes 32 levels, the body being the first, and refuses 33', () => {
    expect(named(nestedObjects(32))).toEqual([]);
    expect(named(nestedObjects(33))).toEqual([
      { pointer: '/a'.repeat(32), code: 'not_allowed', detail: 'The body is nested deeper than 32 levels.' },
    ]);
  });

  it('takes a text at level 33, which nests nothing', () => {
    expect(named(JSON.parse(`${'['.repeat(32)}"x"${']'.repeat(32)}`))).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the key %s at any depth', (key) => {
    expect(named(JSON.parse(`{"list":[{"${key}":1}]}`))).toMatchObject([
      { pointer: `/list/0/${key}`, code: 'not_allowed' },
    ]);
  });

  it('refuses U+0000 and half a surrogate pair, in values and in keys', () => {
    expect(named({ a: 'x\u0000' })).toMatchObject([{ pointer: '/a', code: 'invalid_format' }]);
    expect(named({ a: ['\ud83d'] })).toMatchObject([{ pointer: '/a/0', code: 'invalid_format' }]);
    expect(named({ o: { '\udc00': 1 } })).toMatchObject([{ pointer: '/o/\ufffd', code: 'invalid_format' }]);
    expect(named({ '😀': '😀' })).toEqual([]);
  });

  it('refuses a number that became infinite', () => {
    expect(named(JSON.parse('{"a":1e400}'))).toMatchObject([{ pointer: '/a', code: 'out_of_range' }]);
  });

  it('escapes keys in pointers', () => {
    expect(named({ 'a/b': { '~': '\u0000' } })).toMatchObject([{ pointer: '/a~1b/~0' }]);
  });

  it('names 20 errors and counts them all', () => {
    const texts = Array.from({ length: 50 }, () => '\u0000');
    const errors = inspectJson(texts, JSON.stringify(texts));
    expect(errors.named).toHaveLength(20);
    expect(errors.total).toBe(50);
  });
});

describe('a number beyond 2^53 among very many values', () => {
  it('is refused, exact or not, without reading the text again', () => {
    const text = '[9007199254740994]';
    const inspected = (values: number) => inspectJson(JSON.parse(text), text, { values }).named;
    expect(inspected(10_000)).toEqual([]);
    expect(inspected(10_001)).toMatchObject([{ pointer: '', code: 'out_of_range' }]);
  });
});
