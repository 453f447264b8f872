import fc from 'fast-check';
import { canonicalJson, isDay, parseInstant } from '../index.js';
import { countJsonValues } from './count-values.js';
import { inexactNumbers } from './json-numbers.js';

describe('canonicalJson', () => {
  it('sorts keys by UTF-16 code units at every level, integer-like keys too', () => {
    expect(canonicalJson({ b: 1, a: { z: [], é: 1, '10': 2, '9': 3 } })).toBe(
      '{"a":{"10":2,"9":3,"z":[],"é":1},"b":1}',
    );
  });

  it('writes numbers and text as ECMAScript does', () => {
    expect(canonicalJson([1.0, -0, 1e21, 'a"\u2028', null, true])).toBe('[1,0,1e+21,"a\\"\u2028",null,true]');
  });

  it('leaves out what is undefined and writes a date as its text', () => {
    expect(canonicalJson({ a: undefined, at: new Date(0), list: [undefined] })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","list":[null]}',
    );
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('is the same for equal values in any order and parses to the value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('countJsonValues', () => {
  const count = (text: string): number => countJsonValues(Buffer.from(text));

  it.each([
    ['7', 1],
    ['[1,2,3]', 4],
    ['{"a":1,"b":[true]}', 4],
    ['["a,[{,","\\\\",","]', 4],
    ['["\\","]', 2],
    ['"[', 1],
  ])('%s holds %i', (text, values) => expect(count(text)).toBe(values));

  it('is never less than there are, and counts an empty list as one more', () => {
    const valuesOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 0)
        : 1;
    const emptyOf = (text: string): number => text.match(/\[\]|\{\}/g)?.length ?? 0;
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: fc.constantFrom('a', '"', '\\', ',', '[', '{', ' ') }),
        (value) => {
          const text = JSON.stringify(value);
          const counted = count(text);
          expect(counted).toBeGreaterThanOrEqual(valuesOf(JSON.parse(text)));
          expect(counted).toBeLessThanOrEqual(valuesOf(JSON.parse(text)) + emptyOf(text));
        },
      ),
    );
  });
});

describe('inexactNumbers', () => {
  const exact = (text: string): boolean => inexactNumbers(`[${text}]`).total === 0;

  it('agrees with exact arithmetic on every integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 320n), max: 10n ** 320n }), (integer) => {
        const read = Number(integer);
        const carried = Number.isFinite(read) && BigInt(read) === integer;
        expect(exact(String(integer))).toBe(carried || Number.isSafeInteger(read));
      }),
    );
  });

  it('takes what a double carries, however it is written', () => {
    const long = `0.${'0'.repeat(99_999)}1e100016`;
    for (const text of ['1e20', '1e22', '100000000000000000000.000', long, String(2n ** 1023n)])
      expect([text.slice(0, 30), exact(text)]).toEqual([text.slice(0, 30), true]);
  });

  it('refuses what a double would change', () => {
    const long = `1${'0'.repeat(200_000)}1e-199980`;
    for (const text of ['1e23', '1.5e300', '9007199254740993', '-9007199254740992.5', long])
      expect([text.slice(0, 30), exact(text)]).toEqual([text.slice(0, 30), false]);
  });

  it('names twenty at most, each by its place', () => {
    expect(inexactNumbers('{"a/b":[0,1e23]}').named).toMatchObject([
      { pointer: '/a~1b/1', code: 'out_of_range' },
    ]);
    expect(inexactNumbers(`[${Array.from({ length: 50 }, () => '1e23').join(',')}]`).total).toBe(50);
  });
});

describe('parseInstant', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.1239Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00,5z', '2026-11-21T09:30:00.500Z'],
    ['2026-11-21T09:30-03:00', '2026-11-21T12:30:00.000Z'],
    ['2026-11-21T00:10:00+0530', '2026-11-20T18:40:00.000Z'],
    ['2026-11-21T00:00:00+14', '2026-11-20T10:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => expect(parseInstant(text)).toBe(instant));

  it.each([
    '2026-11-21T09:30:00',
    '2026-11-21',
    '2026-02-29T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T23:59:60Z',
    '2026-11-21T09:30:00+24:00',
    '2026-11-21T09:30:00+01:60',
    '2026-11-21 09:30:00Z',
    ' 2026-11-21T09:30:00Z',
    '2026-11-21T09:30:00Z\n',
    '0000-01-01T00:00:00+01:00',
    '0000-06-15T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+012026-11-21T09:30:00Z',
    '',
  ])('%j is none', (text) => expect(parseInstant(text)).toBeUndefined());

  it('answers any instant with any offset in UTC', () => {
    const instants = fc.date({
      min: new Date('0002-01-01Z'),
      max: new Date('9998-12-31Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, fc.integer({ min: -14 * 60, max: 14 * 60 }), (instant, shift) => {
        const local = new Date(instant.getTime() + shift * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(shift) / 60), Math.abs(shift) % 60];
        const offset = `${shift < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        expect(parseInstant(local + offset)).toBe(instant.toISOString());
      }),
    );
  });
});

it.each([
  ['2024-02-29', true],
  ['0001-01-01', true],
  ['9999-12-31', true],
  ['2023-02-29', false],
  ['0000-06-15', false],
  ['2024-2-9', false],
  ['2024-02-29T00:00:00Z', false],
])('isDay says of %s %s', (text, is) => expect(isDay(text)).toBe(is));
