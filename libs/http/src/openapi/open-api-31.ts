import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Record<string, unknown>;

/** The problem body of every error (RFC 9457). */
const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'correlation_id'],
  properties: {
    type: { type: 'string', description: 'Path of the page about the code' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', description: 'Stable; part of the contract' },
    correlation_id: { type: 'string', format: 'uuid' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the body' },
          parameter: { type: 'string' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
  },
} as const;

/** A document of @nestjs/swagger as OpenAPI 3.1: `nullable` as a type, only chosen paths, keys in a stable order. */
export function toOpenApi31(document: OpenAPIObject, isShown: (path: string) => boolean): object {
  const paths = Object.entries(document.paths).filter(([path]) => isShown(path));
  const shown = {
    ...document,
    openapi: '3.1.0',
    paths: Object.fromEntries(paths.sort(([a], [b]) => compare(a, b))),
  };
  const components = document.components ?? {};
  const schemas = { ...components.schemas, Problem: PROBLEM_SCHEMA };
  const used = onlyUsed({ ...shown, components: {} }, schemas);
  return translate({ ...shown, components: { ...components, schemas: used } }) as object;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The schemas that the paths refer to, directly or through another; the rest is of routes that are not shown. */
function onlyUsed(document: object, schemas: Json): Json {
  const used = new Set<string>();
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name) || !(name in schemas)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(document);
  return Object.fromEntries([...used].sort(compare).map((name) => [name, schemas[name]]));
}

/** OpenAPI 3.1 speaks JSON Schema, which says null by a type. */
function translate(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(translate);
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part).filter(
    ([key, value]) => key !== 'nullable' || typeof value !== 'boolean',
  );
  const translated: Json = Object.fromEntries(members.map(([key, value]) => [key, translate(value)]));
  if ((part as Json)['nullable'] !== true) return translated;
  if ('$ref' in translated || 'allOf' in translated) return { anyOf: [translated, { type: 'null' }] };
  const values = translated['enum'];
  if (Array.isArray(values)) translated['enum'] = [...new Set<unknown>(values).add(null)];
  if (typeof translated['type'] === 'string') translated['type'] = [translated['type'], 'null'];
  return translated;
}
