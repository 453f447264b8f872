import type { OpenAPIObject } from '@nestjs/swagger';
import {
  isProblemCode,
  PROBLEM_CONTENT_TYPE,
  PROBLEM_SCHEMA,
  problemExample,
  PROBLEMS,
  type ProblemCode,
} from '@customer-platform/problem-json';
import { Examples, type Direction } from './examples.js';

type Json = Record<string, unknown>;
type Schemas = Record<string, Json>;

interface MediaType extends Json {
  schema?: Json;
}
interface Response {
  description?: string;
  content?: Record<string, MediaType>;
  $ref?: string;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Json;
  example?: unknown;
}
interface Operation extends Json {
  parameters?: Parameter[];
  'x-problems'?: ProblemCode[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Response>;
  security?: Json[];
}

/**
 * A document of @nestjs/swagger as OpenAPI 3.1: `nullable` as a type, only chosen paths and what they use, keys in a
 * stable order, every operation under the module's tag, and an example of every body.
 */
export function toOpenApi31(document: OpenAPIObject, isShown: (path: string) => boolean): object {
  const paths = Object.entries(document.paths).filter(([path]) => isShown(path));
  const shown = translate({
    ...document,
    openapi: '3.1.0',
    paths: Object.fromEntries(paths.sort(([a], [b]) => compare(a, b))),
  }) as Json & { paths: Record<string, Record<string, Operation>>; components: Json };
  const schemas = { ...(shown.components['schemas'] as Schemas), Problem: PROBLEM_SCHEMA } as Schemas;
  for (const [path, item] of Object.entries(shown.paths))
    for (const operation of Object.values(item)) {
      describePath(path, operation);
      describeProblems(operation);
    }
  const operations = Object.values(shown.paths).flatMap((item) => Object.values(item));
  for (const operation of operations) operation['tags'] = document.tags?.map(({ name }) => name);
  closeBodies(operations, schemas);
  for (const operation of operations) addExamples(operation, schemas);
  const components = {
    securitySchemes: schemesUsed(operations, shown.components['securitySchemes'] as Json),
    schemas: schemasUsed(shown.paths, schemas),
    examples: examplesUsed(shown.paths),
    responses: shareProblems(operations),
  };
  return { ...shown, components };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sorted<T>(names: Iterable<string>, value: (name: string) => T): Record<string, T> {
  return Object.fromEntries([...names].sort(compare).map((name) => [name, value(name)]));
}

/** The names of components of a kind that a part of the document refers to. */
function referred(part: unknown, kind: string): string[] {
  const pattern = new RegExp(`"#/components/${kind}/([^"]+)"`, 'g');
  return [...JSON.stringify(part ?? null).matchAll(pattern)].map(([, name = '']) => name);
}

/** The schemas that a part refers to, directly or through another; the rest is of routes that are not shown. */
function schemasUsed(part: unknown, schemas: Schemas): Schemas {
  const used = new Set<string>();
  const visit = (each: unknown) => {
    for (const name of referred(each, 'schemas')) {
      if (used.has(name) || !(name in schemas)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(part);
  return sorted(used, (name) => schemas[name] as Json);
}

function examplesUsed(part: unknown): Json {
  const codes = new Set(referred(part, 'examples').filter(isProblemCode));
  return sorted(codes, (code) => ({ value: isProblemCode(code) ? problemExample(code) : undefined }));
}

function schemesUsed(operations: readonly Operation[], schemes: Json): Json {
  const used = new Set(operations.flatMap(({ security = [] }) => security.flatMap(Object.keys)));
  return sorted(used, (name) => schemes[name]);
}

/** What stands in the path by name, the controller's part of it included: an id is a UUID. */
function describePath(path: string, operation: Operation): void {
  const parameters = (operation.parameters ??= []);
  const codes = (operation['x-problems'] ??= []);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const isId = (name: string) => name === 'id' || name.endsWith('_id');
  for (const name of names) {
    if (parameters.some((each) => each.in === 'path' && each.name === name)) continue;
    const schema = { type: 'string', ...(isId(name) ? { format: 'uuid' } : {}) };
    parameters.push({ name, required: true, in: 'path', schema });
  }
  // What no path may hold, an encoded control character for one, is no route to the gateway.
  const further: ProblemCode[] = names.length > 0 ? ['not_found', 'route_not_found'] : [];
  if (names.some(isId)) further.push('invalid_id');
  operation['x-problems'] = [...new Set([...codes, ...further])].sort(compare);
}

/** One response for each status, which says by `enum` what its codes are, with an example of each. */
function describeProblems(operation: Operation): void {
  const byStatus = Map.groupBy(operation['x-problems'] ?? [], (code) => PROBLEMS[code].status);
  for (const [status, codes] of byStatus) {
    const schema = {
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        { type: 'object', properties: { code: { type: 'string', enum: codes } } },
      ],
    };
    const examples = Object.fromEntries(
      codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
    );
    operation.responses[String(status)] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { [PROBLEM_CONTENT_TYPE]: { schema, examples } },
    };
  }
}

/** Many routes answer the same codes with a status: each such response stands once, named after its codes. */
function shareProblems(operations: readonly Operation[]): Record<string, Response> {
  const shared = new Map<string, Response>();
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const codes = Object.keys(response.content?.[PROBLEM_CONTENT_TYPE]?.['examples'] ?? {});
      if (codes.length === 0) continue;
      const name = [status, ...codes].join('.');
      shared.set(name, response);
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return sorted(shared.keys(), (name) => shared.get(name) as Response);
}

/** A field that a body does not know is refused (the public contract, "Requests and answers"): its schema says so. */
function closeBodies(operations: readonly Operation[], schemas: Schemas): void {
  const bodies = operations.map(({ requestBody }) => requestBody);
  for (const schema of Object.values(schemasUsed(bodies, schemas)))
    if (schema['properties'] !== undefined) schema['additionalProperties'] ??= false;
}

function addExamples(operation: Operation, schemas: Schemas): void {
  const show = (content: Record<string, MediaType> | undefined, direction: Direction) => {
    for (const media of Object.values(content ?? {}))
      if (media.schema && !('example' in media) && !('examples' in media))
        media['example'] = new Examples(schemas, direction).of(media.schema);
  };
  show(operation.requestBody?.content, 'request');
  for (const { content } of Object.values(operation.responses)) show(content, 'answer');
  for (const parameter of operation.parameters ?? [])
    if (parameter.in === 'path' && parameter.schema)
      parameter.example ??= new Examples(schemas, 'request').of(parameter.schema);
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
