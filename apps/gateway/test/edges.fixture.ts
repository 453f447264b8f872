import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from '@customer-platform/testing';

/** What a schema of the description says of one value. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { schema?: Schema; example?: unknown }> };
  readonly parameters?: readonly Parameter[];
  readonly 'x-authorization'?: string;
  readonly responses?: object;
}

/** A place that a caller fills: a field of a body by its path, or a parameter of a query by its name. */
export interface Place {
  readonly method: string;
  readonly path: string;
  readonly at: 'body' | 'query';
  readonly field: readonly string[];
  readonly schema: Schema;
  readonly authorization?: string;
  readonly example?: unknown;
}

const document = JSON.parse(readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8')) as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
};

/** How deep fields are looked for in a body. */
const LEVELS = 4;

/** The parts that a schema may be of: itself, and each of its alternatives. */
function partsOf(schema: Schema): Schema[] {
  const own = schema.$ref === undefined ? schema : nameless(schema.$ref);
  const { allOf = [], oneOf = [], anyOf = [] } = own;
  return [own, ...[...allOf, ...oneOf, ...anyOf].flatMap(partsOf)];
}

function nameless(reference: string): Schema {
  return document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {};
}

/** All that its parts say together; of two that differ the first. */
function flat(schema: Schema): Schema {
  return Object.assign({}, ...partsOf(schema).reverse()) as Schema;
}

function fieldsOf(schema: Schema, levels = LEVELS): { field: string[]; schema: Schema }[] {
  if (levels === 0) return [];
  const named = new Map<string, { field: string[]; schema: Schema }>();
  for (const part of partsOf(schema)) {
    for (const [name, inner] of Object.entries(part.properties ?? {})) {
      named.set(name, { field: [name], schema: flat(inner) });
      for (const within of fieldsOf(inner, levels - 1))
        named.set([name, ...within.field].join('/'), {
          field: [name, ...within.field],
          schema: within.schema,
        });
    }
  }
  return [...named.values()];
}

/** Every field of every JSON body and every parameter of every query that the description has. */
export function allPlaces(): Place[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => responses !== undefined)
      .flatMap(([method, operation]) => {
        const json = operation.requestBody?.content['application/json'];
        const common = { method: method.toUpperCase(), path, authorization: operation['x-authorization'] };
        const fields = fieldsOf(json?.schema ?? {}).map((one): Place => ({
          ...common,
          at: 'body',
          example: json?.example,
          ...one,
        }));
        const parameters = (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .map(({ name, schema = {} }): Place => ({
            ...common,
            at: 'query',
            field: [name],
            schema: flat(schema),
            example: json?.example,
          }));
        return [...fields, ...parameters];
      }),
  );
}

/** The parameters that a list is filtered by, of its description. */
export function filtersOf(path: string): readonly string[] {
  return (document.paths[path]?.['get']?.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);
}

/** Whether the description has such a route. */
export function isDocumented(method: string, path: string): boolean {
  return document.paths[path]?.[method.toLowerCase()]?.responses !== undefined;
}

/** Every list of the description: a `GET` that takes a `limit`. */
export function documentedLists(): string[] {
  return Object.keys(document.paths).filter((path) => filtersOf(path).includes('limit'));
}

/** Written into JSON as it is: a number that Node cannot hold. */
export class Written {
  constructor(readonly text: string) {}
  toJSON(): string {
    return `@written:${this.text}@`;
  }
}

/** JSON with what is written as it is. */
export function asJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"@written:([^"@]*)@"/g, '$1');
}

const TEXT = [
  '',
  ' ',
  '\t',
  'a\u0000b',
  '\ud800',
  'a\udc00b',
  '\uffff',
  '\u{10ffff}',
  'İıſßŉΐﬃ',
  'e\u0301',
  '%_\\',
  `'"--;$1 {{ 1 }}`,
  ' a ',
  '\u202e\u200b',
];
/** Letters of four bytes, and such as grow by `toLowerCase`, `toUpperCase` and NFKD. */
const LONG = ['\u{1f600}', 'İ', 'ß', 'ŉ', 'ﷺ', 'a'];
const INSTANTS = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00-23:59',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:59+23:59',
  '2024-02-29T12:00:00.123456789+05:45',
  '2023-02-29T12:00:00Z',
  '2016-12-31T23:59:60Z',
  '2024-01-01T24:00:00Z',
  '1582-10-10T00:00:00Z',
  '1900-01-01T00:00:00-04:42',
  '+010000-01-01T00:00:00Z',
  'infinity',
  'now',
  '2024-01-01',
];
/** Of today and of now there is always something to ask. */
const DAYS = [
  new Date().toISOString().slice(0, 10),
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  '10000-01-01',
  '2024-02-29',
  '2023-02-29',
  'infinity',
  '2024-02-29T00:00:00Z',
];
const UUIDS = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '01234567-89ab-cdef-0123-456789abcdef',
  '0123456789abcdef0123456789abcdef',
  '{01234567-89ab-4def-8123-456789abcdef}',
];
const NUMBERS = [
  ...['0', '-0', '1', '-1', '1.5', '2147483647', '2147483648', '-2147483649'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993'],
  ...['9223372036854775807', '9223372036854775808', '1e308', '5e-324', '1e400', '0.1', '1E2'],
];
const ZONES = ['america/SANTIAGO', 'UTC', 'Etc/GMT+14', 'EST5EDT', 'PST', '+03:00', 'localtime', 'Factory'];
const LOCALES = ['es-CL', 'zh-hant-tw', 'es-419', 'i-klingon', 'ca-ES-valencia', 'x'];
const IDENTITIES = ['anonymous_id:İ', 'anonymous_id:', ':a', 'email:ana@example.com', 'custom.a:\u{1f600}'];
const ADDRESSES = [
  'İ@example.com',
  'a@ß.example',
  `${'a'.repeat(64)}@example.com`,
  'a@[127.0.0.1]',
  '"a b"@example.com',
];

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const FREE: readonly unknown[] = [
  {},
  { '': 1 },
  { ['\u{1f600}'.repeat(50)]: 'İıſßŉΐﬃ' },
  { İ: '\u{10ffff}', 'a\'b"': '%_\\', 'a.b': { $1: [] } },
  { at: ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '0000-01-01'] },
  { n: NUMBERS.slice(0, 9).map((text) => new Written(text)) },
  { n: new Written('9007199254740993') },
  { n: new Written('1e308'), m: new Written('5e-324'), o: -0 },
  { t: '\u0000' },
  { '\u0000': 1 },
  { t: '\ud800' },
  { '\udc00': 1 },
  nested(24),
  nested(40),
];

/** Zones that only one side knows are added by who knows both sides. */
export interface FurtherEdges {
  readonly zones: readonly string[];
}

/** What is at the edge of what a value of such a schema may be, within it and beyond. */
export function edgesOf(name: string, schema: Schema, further: FurtherEdges): unknown[] {
  const { type = [], format, enum: values, minimum, maximum, items, maxItems } = schema;
  const types = new Set([type].flat());
  const edges: unknown[] = [];
  if (types.size === 0 || types.has('null')) edges.push(null);
  if (values) edges.push(...values, 'nonsense');
  if (types.has('string') && !values) edges.push(...textsOf(name, schema, format, further));
  if (types.has('integer') || types.has('number')) {
    const bounds = [minimum, maximum].filter((bound) => bound !== undefined);
    edges.push(...bounds.flatMap((bound) => [bound - 1, bound, bound + 1]));
    edges.push(...NUMBERS.map((text) => new Written(text)), '1');
  }
  if (types.has('boolean')) edges.push(true, false, 'true', null);
  if (types.has('array')) {
    const of = edgesOf(name, flat(items ?? {}), further);
    edges.push([], ...of.slice(0, 40).map((item) => [item]));
    if (maxItems !== undefined && maxItems <= 1_000) edges.push(new Array(maxItems + 1).fill(of[0]));
  }
  if (types.has('object') || types.size === 0) edges.push(...FREE);
  if (types.size === 0)
    edges.push(...TEXT.slice(0, 9), ...NUMBERS.slice(0, 11).map((text) => new Written(text)), []);
  return edges;
}

function textsOf(
  name: string,
  { minLength = 0, maxLength }: Schema,
  format: string | undefined,
  { zones }: FurtherEdges,
): string[] {
  const hour = 3_600_000;
  const near = [-hour, hour].map((ms) => new Date(Math.trunc(Date.now() / 1_000) * 1_000 + ms).toISOString());
  if (format === 'date-time') return [...near, ...INSTANTS, ...TEXT.slice(0, 5)];
  if (format === 'date') return [...DAYS, ...TEXT.slice(0, 5)];
  if (format === 'uuid') return [...UUIDS, ...TEXT.slice(0, 5)];
  const whole = LONG.flatMap((letter) => {
    const fits = Math.trunc((maxLength ?? 300) / letter.length);
    // Characters are counted as people do: a pair of surrogates is one.
    const longest = letter.repeat(letter.length === 2 ? (maxLength ?? 300) : fits);
    return maxLength === undefined || maxLength > 10_000 ? [longest] : [longest, longest + letter];
  });
  const shortest = minLength > 0 ? ['a'.repeat(minLength)] : [];
  const own = name.startsWith('identity')
    ? IDENTITIES
    : /zone/.test(name)
      ? [...ZONES, ...zones]
      : /locale/.test(name)
        ? LOCALES
        : /mail|address|value|reply_to/.test(name) || format === 'email'
          ? ADDRESSES
          : /^(from|to|valid_on)$/.test(name)
            ? DAYS
            : [];
  return [...own, ...shortest, ...TEXT, ...whole];
}
