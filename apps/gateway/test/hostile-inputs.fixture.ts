import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from '@customer-platform/testing';

const KIB = 1024;

/** A quarter of a body's limit tells squares from proportions as well; `HOSTILE_INPUTS=full` fills bodies whole. */
const MANAGEMENT_LIMIT = process.env['HOSTILE_INPUTS'] === 'full' ? KIB * KIB : (KIB * KIB) / 4;

/** A piece of JSON of about so many bytes that is slow to look at for whoever looks at it twice. */
export interface Shape {
  readonly name: string;
  /** A value of a field. */
  readonly of: (bytes: number) => unknown;
}

const repeated = (name: string, piece: string, end = ''): Shape => ({
  name,
  of: (bytes) =>
    piece.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(piece).slice(1, -1)))) + end,
});
const items = (name: string, item: (at: number) => unknown): Shape => ({
  name,
  of: (bytes) => {
    const one = JSON.stringify(item(0)).length + 1;
    return Array.from({ length: Math.min(valuesOf(bytes), bytes / one) }, (_, at) => item(at));
  },
});

/** As many values for so many bytes that a megabyte of them is just what a body may hold, and is read. */
function valuesOf(bytes: number): number {
  return Math.floor(bytes / 48) * 2;
}

/** Texts and lists that patterns, searches for duplicates, case folding and normalization are slow with. */
export const SHAPES: readonly Shape[] = [
  repeated('blanks', ' ', 'x'),
  repeated('one letter', 'a'),
  repeated('a@a@', 'a@'),
  repeated('dots', 'a.'),
  repeated('digits', '0', '1'),
  repeated('brackets', '('),
  repeated('opening comments', '<!--'),
  repeated('opening liquid', '{{'),
  repeated('letters that grow in lower case', 'İ'),
  repeated('letters that grow when normalized', 'ﷺ'),
  repeated('combining marks', '\u0301'),
  repeated('pairs of surrogates', '😀'),
  repeated('hyphens', '-a'),
  items('equal items', () => 'a'.repeat(20)),
  items('different items', (at) => at.toString(36).padStart(20, '0')),
  items('different identifiers', (at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`),
  items('objects', (at) => ({ [`n${at}`]: 'a' })),
  items('large numbers', () => 1e22),
  {
    name: 'many names',
    of: (bytes) => Object.fromEntries(Array.from({ length: valuesOf(bytes) }, (_, at) => [`n${at}`, 1])),
  },
  {
    name: 'many nulls',
    of: (bytes) => Object.fromEntries(Array.from({ length: valuesOf(bytes) }, (_, at) => [`n${at}`, null])),
  },
  {
    name: 'nested lists',
    of: (bytes) =>
      Array.from(
        { length: valuesOf(bytes) / 25 },
        () => JSON.parse('['.repeat(25) + ']'.repeat(25)) as unknown,
      ),
  },
];

interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { schema?: Schema; example?: unknown }> };
  readonly 'x-authorization'?: string;
}

/** A route that takes JSON, with an example of its body and the paths of the fields in it. */
export interface BodyRoute {
  readonly method: string;
  readonly path: string;
  readonly authorization?: string;
  readonly example: Record<string, unknown>;
  readonly fields: readonly (readonly string[])[];
  readonly limit: number;
}

const LIMITS: Readonly<Record<string, number>> = {
  '/v1/core/track': 32 * KIB,
  '/v1/core/identify': 32 * KIB,
  '/v1/core/batch': 500 * KIB,
};

/** Every documented route that takes a JSON body. */
export function bodyRoutes(): BodyRoute[] {
  const text = readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  /** Two levels: what stands deeper is within a field that is filled whole. */
  const fieldsOf = (schema: Schema, levels = 2): string[][] => {
    const { properties = {}, allOf = [], oneOf = [] } = resolved(schema);
    const own = Object.entries(properties).flatMap(([name, inner]) => [
      [name],
      ...(levels > 1 ? fieldsOf(inner, levels - 1).map((path) => [name, ...path]) : []),
    ]);
    return [...own, ...[...allOf, ...oneOf].flatMap((part) => fieldsOf(part, levels))];
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const json = operation.requestBody?.content['application/json'];
      if (!json) return [];
      const fields = new Map(fieldsOf(json.schema ?? {}).map((field) => [field.join('/'), field]));
      return [
        {
          method: method.toUpperCase(),
          path,
          authorization: operation['x-authorization'],
          example: (json.example ?? {}) as Record<string, unknown>,
          fields: [...fields.values()],
          limit: LIMITS[path] ?? MANAGEMENT_LIMIT,
        },
      ];
    }),
  );
}

/** The example of a route with one field filled, as it is sent; without a field, its shape takes the body's place. */
export function hostileBody(route: BodyRoute, field: readonly string[] | undefined, value: unknown): string {
  const [name, inner] = field ?? [];
  if (name === undefined) {
    const spread = typeof value === 'object' && !Array.isArray(value) ? (value as object) : { '': value };
    return JSON.stringify({ ...route.example, ...spread });
  }
  const { [name]: former, ...others } = route.example;
  const kept = typeof former === 'object' && !Array.isArray(former) ? former : {};
  return JSON.stringify({ ...others, [name]: inner === undefined ? value : { ...kept, [inner]: value } });
}

/** Forms as providers send them, of about so many bytes. */
export const FORMS: Readonly<Record<string, (bytes: number) => string>> = {
  'different fields': (bytes) =>
    Array.from({ length: Math.floor(bytes / 8) }, (_, at) => `f${at}=1`).join('&'),
  'one field again and again': (bytes) => 'a=1&'.repeat(Math.floor(bytes / 4)),
  ampersands: (bytes) => '&'.repeat(bytes),
  escapes: (bytes) => `Body=${'%20'.repeat(Math.floor(bytes / 3))}`,
};
