import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Module } from '@nestjs/common';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ThingsModule } from '../../test/things.module.js';
import {
  Context,
  ListEndpoint,
  ListRequest,
  openApiDocument,
  writeOpenApi,
  type ListQuery,
  type RequestContext,
} from '../index.js';
import { ThingDto, thingList } from '../../test/thing.dto.js';

/** Text that may be stored. */
const TEXT = '^[^\\u0000]*$';

const inOneDirection = {
  ...thingList,
  sorts: {
    at: { column: 'at', type: 'time', only: 'desc' },
    name: { column: 'name', type: 'string', only: 'asc' },
  },
  defaultSort: '-at',
} as const;

@Controller('v1/crm/ordered')
class OrderedController {
  @ListEndpoint({ permission: 'crm.notes.read', summary: 'List in one direction', response: ThingDto })
  list(@Context() _context: RequestContext, @ListRequest(inOneDirection) _query: ListQuery): void {
    // described, never called
  }
}

@Module({ controllers: [OrderedController] })
class OrderedModule {}

// The document is read as a stranger would read it.
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- JSON without a type
let document: any;
beforeAll(async () => {
  document = await openApiDocument({ module: 'crm', root: ThingsModule });
});

const operation = (method: string, path: string) => document.paths[path][method];

describe('the OpenAPI document', () => {
  it('is 3.1, made without a provider, and holds the public routes only', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual([...Object.keys(document.paths)].sort());
    expect(document.paths['/v1/crm/things/{id}/restore'].post).toBeDefined();
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/internal'))).toEqual([]);
  });

  it('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('says permission, classes and codes of each route', () => {
    expect(operation('post', '/v1/crm/things')).toMatchObject({
      'x-permission': 'crm.notes.create',
      'x-api-class': 'management',
      'x-latency-class': 'management',
      security: [{ api_key: [] }, { user_token: [] }],
    });
    expect(operation('post', '/v1/crm/things/sends')).toMatchObject({
      'x-api-class': 'runtime',
      'x-latency-class': 'messaging_runtime',
      security: [{ api_key: [] }],
    });
    expect(operation('get', '/v1/crm/things/me')).toMatchObject({
      'x-authorization': 'member_token',
      security: [{ member_token: [] }],
    });
    expect(operation('get', '/v1/crm/things/slow').security).toEqual([{}]);
    expect(operation('delete', '/v1/crm/things/{id}/purge')['x-problems']).toEqual(
      expect.arrayContaining(['resource_referenced', 'not_soft_deleted', 'invalid_id', 'permission_denied']),
    );
    expect(operation('get', '/v1/crm/things')['x-problems']).toContain('invalid_cursor');
  });

  it('describes problems once and refers to them by status', () => {
    const { responses } = operation('delete', '/v1/crm/things/{id}/purge');
    const name = '409.not_soft_deleted.resource_referenced';
    expect(responses['409']).toEqual({ $ref: `#/components/responses/${name}` });
    const { description, content } = document.components.responses[name];
    expect(description).toBe('`not_soft_deleted`, `resource_referenced`');
    const { schema, examples } = content['application/problem+json'];
    expect(schema.allOf).toEqual([
      { $ref: '#/components/schemas/Problem' },
      { type: 'object', properties: { code: { type: 'string', enum: name.split('.').slice(1) } } },
    ]);
    expect(examples.not_soft_deleted).toEqual({ $ref: '#/components/examples/not_soft_deleted' });
    expect(document.components.examples.not_soft_deleted.value).toMatchObject({
      code: 'not_soft_deleted',
      status: 409,
    });
    expect(document.components.schemas.Problem.required).toContain('correlation_id');
  });

  it('refuses unknown fields of a body in words of the schema', () => {
    expect(document.components.schemas.ThingDto.additionalProperties).toBe(false);
    expect(document.components.schemas.PartDto.additionalProperties).toBe(false);
  });

  it('shows every body by an example, and what names an item', () => {
    const { requestBody, responses } = operation('post', '/v1/crm/things');
    expect(requestBody.content['application/json'].example).toEqual({ name: 'Name' });
    expect(responses['201'].content['application/json'].example).toMatchObject({ name: 'Name' });
    const [id] = operation('get', '/v1/crm/things/{id}').parameters;
    expect(id).toMatchObject({ name: 'id', example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f' });
    const list = operation('get', '/v1/crm/things').responses['200'].content['application/json'];
    expect(list.example).toMatchObject({ data: [{ name: 'Name' }], page: { limit: 50, next_cursor: null } });
  });

  it('reads the fields of a body from what validates them', () => {
    const { schema } = operation('post', '/v1/crm/things').requestBody.content['application/json'];
    expect(schema).toEqual({ $ref: '#/components/schemas/ThingDto' });
    const { required, properties } = document.components.schemas.ThingDto;
    expect(required).toEqual(['name']);
    expect(properties.name).toEqual({ type: 'string', minLength: 1, maxLength: 20, pattern: TEXT });
    expect(properties.size).toEqual({ type: 'integer', minimum: 1, maximum: 9 });
    expect(properties.color).toMatchObject({ enum: ['red', 'blue', null] });
    expect(properties.at).toEqual({ type: 'string', format: 'date-time' });
    expect(properties.parts).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/PartDto' },
    });
    expect(document.components.schemas.PartDto.properties.name).toEqual({
      type: 'string',
      maxLength: 10,
      pattern: TEXT,
    });
  });

  it('completes what is said of a field, and leaves out one that is always refused', () => {
    const { properties } = document.components.schemas.ThingPatchDto;
    expect(properties.name).toEqual({
      type: 'string',
      description: 'What it is called.',
      minLength: 1,
      maxLength: 20,
      pattern: TEXT,
    });
    expect(properties.weight).toEqual({ type: ['integer', 'null'] });
    expect(properties).not.toHaveProperty('owner_id');
  });

  it('describes a list by its definition', () => {
    const list = operation('get', '/v1/crm/things');
    const names = list.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['limit', 'cursor', 'sort', 'name', 'name[prefix]', 'size[gte]', 'view']),
    );
    expect(names).toEqual(
      expect.arrayContaining(['include_deleted', 'before_occurred_at', 'before_id', 'occurred_at[lt]']),
    );
    const schema = list.responses['200'].content['application/json'].schema;
    expect(schema.properties.data.items).toEqual({ $ref: '#/components/schemas/ThingDto' });
    expect(schema.properties.page.properties.next_cursor.type).toEqual(['string', 'null']);
  });

  it('describes what a filter takes, so that nothing right by it is refused', () => {
    const schemaOf = (name: string) =>
      operation('get', '/v1/crm/things').parameters.find((one: { name: string }) => one.name === name).schema;
    const whole = { type: 'integer', minimum: -(2 ** 53 - 1), maximum: 2 ** 53 - 1 };
    expect(schemaOf('size[gte]')).toEqual(whole);
    expect(schemaOf('size[in]').items).toEqual(whole);
    expect(schemaOf('name')).toEqual({ type: 'string', pattern: TEXT });
    expect(new RegExp(TEXT, 'u').test('a\u0000')).toBe(false);
    expect(new RegExp(TEXT, 'u').test('a\n😀')).toBe(true);
    const order = new RegExp(schemaOf('sort').pattern as string, 'u');
    for (const taken of ['name', '-created_at,name', '-name,created_at'])
      expect(order.test(taken)).toBe(true);
    for (const refused of ['', 'size', 'name,name', 'name,-name', 'name,created_at,-name', 'name,', '--name'])
      expect([refused, order.test(refused)]).toEqual([refused, false]);
  });

  it('describes an order that a list has in one direction only', async () => {
    const described = await openApiDocument({ module: 'crm', root: OrderedModule });
    const { parameters } = (described as typeof document).paths['/v1/crm/ordered'].get;
    expect(parameters.find(({ name }: { name: string }) => name === 'sort').schema).toMatchObject({
      default: '-at',
      pattern: '^(?!.*\\b(at|name)\\b.*\\b\\1\\b)(-at|name)(,(-at|name)){0,1}$',
    });
  });

  it('says of a whole number that it is whole', () => {
    const { properties } = document.components.schemas.ThingPatchDto;
    expect(properties.count).toEqual({ type: 'integer', description: 'How many.' });
  });

  it('describes the header of repeats where it is taken', () => {
    const header = (path: string) =>
      operation('post', path).parameters.filter(({ name }: { name: string }) => name === 'Idempotency-Key');
    expect(header('/v1/crm/things')).toMatchObject([{ in: 'header', required: false }]);
    expect(header('/v1/crm/things/sends')).toMatchObject([{ in: 'header', required: true }]);
    expect(header('/v1/crm/things/forms')).toEqual([]);
  });

  it('speaks 3.1: nothing is nullable by a keyword, and every reference leads somewhere', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('"nullable"');
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      expect(document.components[kind]).toHaveProperty([name]);
    }
  });

  it('names each operation once', () => {
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is written as text that does not change from one time to the next', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'openapi-')), 'openapi.json');
    await writeOpenApi({ module: 'crm', root: ThingsModule, file });
    const first = await readFile(file, 'utf8');
    await writeOpenApi({ module: 'crm', root: ThingsModule, file });
    expect(await readFile(file, 'utf8')).toBe(first);
    expect(JSON.parse(first)).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
