import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE } from '@customer-platform/testing';
import { FULL } from './hostile-shapes.fixture.js';

const KIB = 1024;

/** The most that a body of management may be filled to. */
const MANAGEMENT_LIMIT = FULL ? KIB * KIB : 128 * KIB;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { schema?: Schema; example?: unknown }> };
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly object[];
  readonly 'x-authorization'?: string;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

/** A route as it is documented, and what authorizes it instead of a permission. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly authorization?: string;
}

/** A field of a body: where it stands, and the most characters and items that it takes, where that is said. */
interface Field {
  readonly path: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A route that takes JSON, with an example of its body and the fields in it. */
export interface BodyRoute extends Route {
  readonly example: Record<string, unknown>;
  readonly fields: readonly Field[];
  readonly limit: number;
}

/** A route with parameters in its query. */
export interface QueryRoute extends Route {
  readonly parameters: readonly string[];
  /** Those without which nothing else is looked at, each with a value. */
  readonly required: string;
}

/** A route with a header that it documents. */
export interface HeaderRoute extends Route {
  readonly example?: unknown;
  readonly headers: readonly string[];
}

const LIMITS: Readonly<Record<string, number>> = {
  '/v1/core/track': 32 * KIB,
  '/v1/core/identify': 32 * KIB,
  '/v1/core/batch': 500 * KIB,
};

const { paths, components } = JSON.parse(
  readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8'),
) as Document;

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: { method: method.toUpperCase(), path, authorization: operation['x-authorization'] },
    operation,
  })),
);

function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
}

/** Two levels: what stands deeper is within a field that is filled whole. */
function fieldsOf(schema: Schema, levels = 2): Field[] {
  const { properties = {}, allOf = [], oneOf = [] } = resolved(schema);
  const own = Object.entries(properties).flatMap(([name, inner]) => {
    const { maxLength, maxItems } = resolved(inner);
    const within = levels > 1 ? fieldsOf(inner, levels - 1) : [];
    return [
      { path: [name], maxLength, maxItems },
      ...within.map((field) => ({ ...field, path: [name, ...field.path] })),
    ];
  });
  return [...own, ...[...allOf, ...oneOf].flatMap((part) => fieldsOf(part, levels))];
}

/** Every documented route that takes a JSON body. */
export function bodyRoutes(): BodyRoute[] {
  return operations.flatMap(({ route, operation }) => {
    const json = operation.requestBody?.content['application/json'];
    if (!json) return [];
    const example = (json.example ?? {}) as Record<string, unknown>;
    // Where the schema says nothing of what is inside, the example does.
    const shown = Object.keys(example).map((name): Field => ({ path: [name] }));
    const fields = new Map(
      [...shown, ...fieldsOf(json.schema ?? {})].map((field) => [field.path.join('/'), field]),
    );
    const limit = Math.min(LIMITS[route.path] ?? MANAGEMENT_LIMIT, MANAGEMENT_LIMIT);
    return [{ ...route, example, fields: [...fields.values()], limit }];
  });
}

/** The example of a route with one field filled, as it is sent; without a field, its shape takes the body's place. */
export function hostileBody(
  { example }: Pick<BodyRoute, 'example'>,
  field: readonly string[] | undefined,
  value: unknown,
): string {
  const [name, inner] = field ?? [];
  if (name === undefined) {
    const spread = typeof value === 'object' && !Array.isArray(value) ? (value as object) : { '': value };
    return JSON.stringify({ ...example, ...spread });
  }
  const { [name]: former, ...others } = example;
  const kept = typeof former === 'object' && !Array.isArray(former) ? former : {};
  return JSON.stringify({ ...others, [name]: inner === undefined ? value : { ...kept, [inner]: value } });
}

/** Every documented route that takes a query, and those of its parameters that take a text; in full, all of them. */
export function queryRoutes(): QueryRoute[] {
  return operations.flatMap(({ route, operation: { parameters = [] } }) => {
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const filled = inQuery.filter(({ schema }) => FULL || takesText(schema ?? {})).map(({ name }) => name);
    const required = inQuery
      .filter((parameter) => parameter.required)
      .map(({ name }) => `${encodeURIComponent(name)}=x`)
      .join('&');
    return filled.length === 0 ? [] : [{ ...route, parameters: filled, required }];
  });
}

function takesText(schema: Schema): boolean {
  const { type, format, enum: values, items } = resolved(schema);
  if (items) return takesText(items);
  return type === 'string' && format === undefined && values === undefined;
}

/** What is read of callers, of proxies and of what a caller knows are headers that no parameter describes. */
const OF_ALL = ['authorization', 'user-agent', 'accept', 'accept-language', 'x-correlation-id', 'forwarded'];
const OF_PROXIES = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'connection', 'cookie'];
const OF_CHANGES = ['if-match', 'if-none-match'];
const OF_BODIES = ['content-type', 'content-encoding'];

/**
 * The first route of each module and method with every header that is read of it, the first that takes each kind of
 * token with that, and all others that document a header, or may read one for themselves, with it.
 */
export function headerRoutes(): HeaderRoute[] {
  const seen = new Set<string>();
  const first = (kind: string): boolean => seen.size < seen.add(kind).size;
  return operations.flatMap(({ route, operation }) => {
    const { parameters = [], security, requestBody } = operation;
    const content = requestBody?.content['application/json'];
    const module = route.path.split('/')[2] ?? '';
    const isFirst = first(`${module} ${route.method}`);
    const documented = parameters
      .filter((each) => each.in === 'header')
      .map(({ name }) => name.toLowerCase());
    const headers = new Set([
      ...documented,
      ...(isFirst ? [...OF_ALL, ...OF_PROXIES, ...OF_CHANGES] : []),
      ...(isFirst && content ? OF_BODIES : []),
      ...(first(`${module} ${JSON.stringify(security)}`) ? ['authorization'] : []),
      ...(route.method === 'PATCH' ? OF_CHANGES : []),
      ...(route.authorization === 'signed_link' ? ['accept-language'] : []),
    ]);
    return headers.size === 0 ? [] : [{ ...route, example: content?.example, headers: [...headers] }];
  });
}
