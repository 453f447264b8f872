import { checkSchema, SCHEMA_LIMITS } from './check-schema.js';
import { compileSchema } from './compile-schema.js';
import type { EventSchema, ValueSchema } from './event-schema.js';

const of = (properties: Record<string, ValueSchema>, further: Partial<EventSchema> = {}): EventSchema => ({
  type: 'object',
  properties,
  ...further,
});
/** A schema as somebody may send it. */
const given = (schema: object): EventSchema => schema as EventSchema;
const text = (extra: Partial<ValueSchema> = {}): ValueSchema => ({ type: 'string', ...extra });
const pointers = (schema: EventSchema, properties: unknown): string[] =>
  compileSchema(schema)
    .violations(properties)
    .map(({ pointer }) => pointer);

function nested(levels: number): ValueSchema {
  return levels === 1 ? text() : { type: 'object', properties: { inner: nested(levels - 1) } };
}

describe('a compiled schema', () => {
  it('names every place that breaks it, once, and repeats no value', () => {
    const described = of(
      {
        order_id: text({ minLength: 1, maxLength: 5 }),
        currency: text(),
        total: { type: 'integer', minimum: 0, exclusiveMaximum: 10 },
        kind: text({ enum: ['a', 'b'] }),
        fixed: { type: 'integer', const: 7 },
        lines: { type: 'array', maxItems: 2, minItems: 1, items: of({ sku: text() }, { required: ['sku'] }) },
        'a/b': { type: 'boolean' },
      },
      { required: ['order_id', 'currency'] },
    );
    expect(pointers(described, { order_id: 'x', currency: 'CLP', other: [1] })).toEqual([]);
    const found = compileSchema(described).violations({
      order_id: 'secret-1',
      total: -1,
      kind: 'secret-2',
      fixed: 8,
      lines: [{}, { sku: 5 }, { sku: 'x' }],
      'a/b': 'secret-3',
    });
    expect(found.map(({ pointer }) => pointer).sort()).toEqual([
      '/properties/a~1b',
      '/properties/currency',
      '/properties/fixed',
      '/properties/kind',
      '/properties/lines',
      '/properties/lines/0/sku',
      '/properties/lines/1/sku',
      '/properties/order_id',
      '/properties/total',
    ]);
    expect(JSON.stringify(found)).not.toContain('secret');
    for (const { detail } of found) expect(detail).toMatch(/^(This|Allowed) /);
  });

  it('names twenty at most, and of large properties the first', () => {
    const names = Array.from({ length: 40 }, (_, at) => `p${String(at)}`);
    const schema = of(Object.fromEntries(names.map((name) => [name, text()])), { required: names });
    expect(pointers(schema, {})).toHaveLength(20);
    expect(pointers(schema, { other: 'x'.repeat(5_000) })).toHaveLength(1);
  });

  it.each([
    ['date-time', '2026-11-21T09:30:00-03:00', '2026-11-21T09:30:00'],
    ['date', '2028-02-29', '2026-02-29'],
    ['email', 'ana@example.com', 'ana@example.com@x'],
    ['uri', 'https://example.com/a?b#c', '/relative'],
    ['uuid', '019b0ee0-5a00-7a10-8c01-5f2b6d7e0001', '019b0ee0'],
  ])('knows the format %s', (format, good, bad) => {
    const schema = of({ value: text({ format }) });
    expect(pointers(schema, { value: good })).toEqual([]);
    expect(pointers(schema, { value: bad })).toEqual(['/properties/value']);
  });

  it('matches patterns by RE2, each by its own', () => {
    const pattern = (of_: string): ValueSchema => text({ pattern: of_, maxLength: 50 });
    const schema = of({ one: pattern('^[A-Z]{3}$'), other: pattern('^\\d+$'), hard: pattern('^(a+)+$') });
    expect(pointers(schema, { one: 'CLP', other: '12', hard: 'aaaa' })).toEqual([]);
    expect(pointers(schema, { one: '12', other: 'CLP', hard: `${'a'.repeat(49)}!` })).toHaveLength(3);
  });
});

describe('a schema that is refused', () => {
  const many = (count: number): Record<string, ValueSchema> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${String(at)}`, text()]));
  const wide = (count: number): EventSchema =>
    of(Object.fromEntries(Array.from({ length: count }, (_, at) => [`g${String(at)}`, of(many(50))])));

  it.each<[string, object]>([
    ['is no object', [] as object],
    ['is of something else than an object', { type: 'string' }],
    ['names no type', of({ a: given({ maxLength: 3 }) })],
    ['refers to itself', of({ a: given({ type: 'object', $ref: '#' }) })],
    ['is fetched from elsewhere', given({ type: 'object', $id: 'https://example.com/schema' })],
    ['is of another dialect', given({ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' })],
    ['combines', given({ type: 'object', anyOf: [{ type: 'object' }] })],
    [
      'has patterns of names',
      given({ type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } }),
    ],
    ['compares all with all', of({ a: given({ type: 'array', maxItems: 5, uniqueItems: true }) })],
    ['knows a format that is not on the list', of({ a: text({ format: 'regex' }) })],
    ['has a list without an end', of({ a: { type: 'array', items: text() } })],
    ['has a list that is too long', of({ a: { type: 'array', maxItems: SCHEMA_LIMITS.items + 1 } })],
    ['has a pattern for a text of any length', of({ a: text({ pattern: '^a$' }) })],
    ['has a pattern that looks ahead', of({ a: text({ pattern: '(?=a)b', maxLength: 10 }) })],
    ['has a pattern that refers back', of({ a: text({ pattern: '(a)\\1', maxLength: 10 }) })],
    [
      'has a pattern with endless repetitions',
      of({ a: text({ pattern: '((a{30}){30}){30}', maxLength: 10 }) }),
    ],
    ['has a pattern that is too large', of({ a: text({ pattern: '[ab]{900}', maxLength: 10 }) })],
    ['has a pattern that is too long', of({ a: text({ pattern: 'a'.repeat(201), maxLength: 10 }) })],
    ['is too deep', of({ a: nested(SCHEMA_LIMITS.depth) })],
    ['is far too deep', of({ a: nested(5_000) })],
    ['has too many properties', of(many(SCHEMA_LIMITS.properties + 1))],
    ['has too many schemas', wide(5)],
    [
      'has too many characters',
      of({ a: text({ enum: Array.from({ length: 90 }, (_, at) => `${at}${'x'.repeat(250)}`) }) }),
    ],
    ['allows too many values', of({ a: text({ enum: Array.from({ length: 101 }, (_, at) => String(at)) }) })],
    ['has a keyword of another kind', of({ a: given({ type: 'string', maxLength: 'x' }) })],
    ['demands what it does not list twice', given({ type: 'object', required: ['a', 'a'] })],
  ])('%s', (_why, schema) => {
    expect(() => checkSchema(schema)).toThrow(expect.objectContaining({ name: 'SchemaRefused' }) as Error);
    expect(() => compileSchema(given(schema))).toThrow(
      expect.objectContaining({ name: 'SchemaRefused' }) as Error,
    );
  });

  it('says where', () => {
    const schema = of({ 'a/b': given({ type: 'object', properties: { c: { type: 'string', $ref: '#' } } }) });
    expect(() => checkSchema(schema)).toThrow('/properties/a~1b/properties/c: the keyword $ref is not taken');
  });
});
