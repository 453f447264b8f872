import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { anOrganization } from '@customer-platform/testing';
import { bigints, byteas, integers, jsons, texts, timestamps, uuids } from '../src/index.js';
import { aWidgetWorld, type WidgetWorld } from './widgets.fixture.js';

let world: WidgetWorld;
beforeAll(async () => {
  world = await aWidgetWorld();
});
afterAll(() => world.close());

/** What the server makes of an array, each element as the text it would show. */
async function asText(type: string, array: Buffer): Promise<(string | null)[]> {
  const rows = await world.database.inOrganization({ organizationId: anOrganization().id }, (tx) =>
    tx.query<{ value: string | null }>(
      `SELECT value::text AS value FROM unnest($1::${type}[]) WITH ORDINALITY AS given (value, place) ORDER BY place`,
      [array],
    ),
  );
  return rows.map(({ value }) => value);
}

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[]> =>
  fc.array(fc.option(of), { maxLength: 50 });

/** Whatever the values, the server reads from the array what `shown` says of each. */
async function holds<T>(
  type: string,
  of: fc.Arbitrary<T>,
  encode: (values: (T | null)[]) => Buffer,
  shown: (value: T) => string,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(maybe(of), async (values) => {
      const expected = values.map((value) => (value === null ? null : shown(value)));
      expect(await asText(type, encode(values))).toEqual(expected);
    }),
    { numRuns: 30 },
  );
}

describe('arrays in the binary format', () => {
  it('uuids, in either case', async () => {
    await holds('uuid', fc.uuid(), uuids, (value) => value);
    const id = randomUUID();
    expect(await asText('uuid', uuids([id.toUpperCase(), undefined, id]))).toEqual([id, null, id]);
  });

  it('bigints as far as JavaScript is exact', () => holds('bigint', fc.maxSafeInteger(), bigints, String));

  it('integers', () => holds('integer', fc.integer(), integers, String));

  it('times, from dates and from texts with any offset', async () => {
    const date = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    const ms = (value: Date): string => String(value.getTime());
    const asMs =
      'timestamptz[]) AS t (v) CROSS JOIN LATERAL (SELECT (extract(epoch FROM v) * 1000)::bigint) AS e (ms)';
    await fc.assert(
      fc.asyncProperty(fc.array(date, { minLength: 1, maxLength: 20 }), async (dates) => {
        const rows = await world.database.inOrganization({ organizationId: anOrganization().id }, (tx) =>
          tx.query<{ ms: string }>(`SELECT ms FROM unnest($1::${asMs}`, [timestamps(dates)]),
        );
        expect(rows.map((row) => row.ms)).toEqual(dates.map(ms));
      }),
      { numRuns: 30 },
    );
    expect(await asText('timestamptz', timestamps(['2026-03-01T00:00:00.123+03:00', null]))).toEqual([
      '2026-02-28 21:00:00.123+00',
      null,
    ]);
  });

  it('texts, whatever is in them', () =>
    holds(
      'text',
      fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0')),
      texts,
      String,
    ));

  it('JSON as it is given', () => holds('json', fc.json(), jsons, String));

  it('bytes', () =>
    holds('bytea', fc.uint8Array(), byteas, (value) => `\\x${Buffer.from(value).toString('hex')}`));

  it('refuse what their type cannot hold, before anything is sent', () => {
    const id = randomUUID();
    for (const wrong of ['', 'x', `${id}0`, id.replace('-', '0'), `g${id.slice(1)}`, `é${id.slice(1)}`])
      expect(() => uuids([wrong])).toThrow(TypeError);
    for (const wrong of [0.5, NaN, 2 ** 53]) expect(() => bigints([wrong])).toThrow(RangeError);
    for (const wrong of [0.5, 2 ** 31]) expect(() => integers([wrong])).toThrow(RangeError);
    expect(() => timestamps(['yesterday'])).toThrow(RangeError);
  });

  it('are refused by the server where the type is another', async () => {
    await expect(asText('text', uuids([randomUUID()]))).rejects.toThrow();
  });
});
