/** What of the platform's OpenAPI document is shown; whatever a newer one says besides is left alone. */
export interface OpenApi {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name?: string; in?: string; description?: string; required?: boolean }[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  security?: Record<string, unknown>[];
  'x-permission'?: string;
  'x-problems'?: string[];
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
}

/** One route of the API. */
export interface Route {
  /** `GET /v1/core/contacts` */
  name: string;
  method: string;
  path: string;
  module: string;
  summary: string;
  description: string | undefined;
  permission: string | undefined;
  problems: readonly string[];
  parameters: readonly { name: string; in: string; required: boolean }[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** All routes, by path, in the order of the methods. */
export function routesOf({ paths }: OpenApi): Route[] {
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      METHODS.flatMap((method) => {
        const operation = operations[method];
        return operation === undefined ? [] : [routeOf(method.toUpperCase(), path, operation)];
      }),
    )
    .sort((one, other) => (one.path === other.path ? 0 : one.path < other.path ? -1 : 1));
}

function routeOf(method: string, path: string, operation: Operation): Route {
  const { summary = '', description, tags, parameters = [] } = operation;
  return {
    name: `${method} ${path}`,
    method,
    path,
    module: tags?.[0] ?? '',
    summary,
    description,
    permission: operation['x-permission'],
    problems: operation['x-problems'] ?? [],
    parameters: parameters.flatMap(({ name, in: where = '', required = false }) =>
      name === undefined ? [] : [{ name, in: where, required }],
    ),
  };
}

/** Those that have every word in their method, path, permission, code or summary. */
export function routesWith(routes: readonly Route[], words: string, module: string | undefined): Route[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return routes.filter((route) => {
    if (module !== undefined && route.module !== module) return false;
    const text = `${route.name} ${route.permission ?? ''} ${route.summary} ${route.problems.join(' ')}`;
    const lower = text.toLowerCase();
    return wanted.every((word) => lower.includes(word));
  });
}

/** The names of events that a webhook endpoint may be sent; none where the document says none. */
export function webhookEventsOf(document: OpenApi): string[] {
  const { content = {} } = document.paths['/v1/messaging/webhook-endpoints']?.['post']?.requestBody ?? {};
  const body = resolved(document, Object.values(content)[0]?.schema);
  const events = resolved(document, body?.properties?.['events']);
  const names = resolved(document, events?.items)?.enum ?? [];
  return names.filter((name): name is string => typeof name === 'string');
}

/** Follows `#/components/schemas/…`. */
function resolved(document: OpenApi, schema: Schema | undefined): Schema | undefined {
  if (schema?.$ref === undefined) return schema;
  const steps = schema.$ref.replace(/^#\//, '').split('/');
  const at = (value: unknown, step: string): unknown =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined;
  return steps.reduce<unknown>(at, document) as Schema | undefined;
}
