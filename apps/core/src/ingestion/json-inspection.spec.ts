import fc from 'fast-check';
import { inspectJson } from './json-inspection.js';
import { sliceArrayItems } from './json-slices.js';

function inspect(text: string, level?: number) {
  return inspectJson(JSON.parse(text), text, level).named;
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

describe('sliceArrayItems', () => {
  it('gives each item the bytes it was sent as', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
    const items = fc.array(fc.json({ stringUnit: 'binary', maxDepth: 4 }), { maxLength: 8 });
    fc.assert(
      fc.property(items, spaces, fc.json({ stringUnit: 'binary' }), (texts, space, other) => {
        const list = `[${space}${texts.join(`${space},${space}`)}${space}]`;
        const body = `${space}{${space}"x"${space}:${other},"events"${space}:${space}${list}${space},"y":${other}}`;
        const bytes = Buffer.from(body);
        expect(sliceArrayItems(bytes, 'events').map(String)).toEqual(
          texts.map((text) => Buffer.from(text).toString()),
        );
      }),
    );
  });

  it('takes the last of a repeated name, escaped or not', () => {
    const body = Buffer.from('{"events":[1,2],"\\u0065vents":["\\\\\\"]"]}');
    expect(sliceArrayItems(body, 'events').map(String)).toEqual(['"\\\\\\"]"']);
  });
});
