import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { DEFAULT_OPS } from '../lists/filter-values.js';
import { filtersOf, sortsOf } from '../lists/parse-list-request.js';
import type { FilterOp, FilterSpec, FilterType, ListDefinition, SortSpec } from '../lists/list-definition.js';
import { fieldsOf } from '../reading/dto-shape.js';
import { propertySchema, STORABLE_TEXT } from '../openapi/property-schema.js';
import type { Dto } from './route-declaration.js';

/** Parameters of a list whose names tenants define. */
export interface OpenParameters {
  /** As the description calls them together; it stands in no query. */
  readonly name: string;
  /** What their names look like. */
  readonly pattern: string;
  readonly description: string;
}

/** The query parameters of a list: every filter with each of its operators, sort, paging. */
export function describeList(definition: ListDefinition, open?: OpenParameters): MethodDecorator {
  return applyDecorators(
    parameter(
      'limit',
      { type: 'integer', minimum: 1, default: 50 },
      'At most 200; a larger one is taken as 200. A page of large rows ends earlier, at about 4 MiB, with a `next_cursor`',
    ),
    parameter('cursor', { type: 'string', minLength: 1 }, '`next_cursor` of the page before'),
    parameter(
      'sort',
      {
        type: 'string',
        default: definition.defaultSort,
        // What tenants define sorts too, and no pattern knows it.
        ...(open ? { minLength: 1 } : { pattern: sortPattern(definition.sorts) }),
      },
      `Fields, with a minus descending, separated by commas: ${sortsOf(definition).join(', ')}`,
    ),
    ...(definition.includeDeleted
      ? [parameter('include_deleted', { type: 'boolean', default: false }, 'Shows soft-deleted rows too')]
      : []),
    ...(definition.timelineSource
      ? [
          parameter(
            'before_occurred_at',
            { type: 'string', format: 'date-time' },
            'With `before_id`: rows before both',
          ),
          parameter('before_id', { type: 'string', format: 'uuid' }, 'With `before_occurred_at`'),
        ]
      : []),
    ...Object.entries(definition.extraParameters ?? {}).map(([name, spec]) =>
      parameter(name, valueSchema(spec), spec.description ?? '', spec.required),
    ),
    ...Object.entries(filtersOf(definition)).flatMap(([field, spec]) => filterParameters(field, spec)),
    ...(open ? [openParameters(open)] : []),
  );
}

/** An object whose members are parameters of their own. */
function openParameters({ name, pattern, description }: OpenParameters): MethodDecorator {
  const schema = {
    type: 'object' as const,
    additionalProperties: { type: 'string' as const },
    propertyNames: { pattern },
  };
  return ApiQuery({
    name,
    required: false,
    style: 'form',
    explode: true,
    description,
    schema,
  });
}

/** Fields separated by commas, none of them twice. */
function sortPattern(sorts: ListDefinition['sorts']): string {
  const names = Object.keys(sorts);
  const level = `(${Object.entries(sorts).map(levelPattern).join('|')})`;
  if (names.length === 1) return `^${level}$`;
  return `^(?!.*\\b(${names.join('|')})\\b.*\\b\\1\\b)${level}(,${level}){0,${names.length - 1}}$`;
}

function levelPattern([name, { only }]: [string, SortSpec]): string {
  return only === undefined ? `-?${name}` : only === 'desc' ? `-${name}` : name;
}

/** The query parameters of a route whose query has a DTO class. */
export function describeDtoQuery(dto: Dto): MethodDecorator {
  return applyDecorators(
    ...[...fieldsOf(dto)].map((name) => {
      const { required, schema } = propertySchema(dto, name);
      const { description, ...said } = saidOf(dto, name);
      return parameter(name, { ...schema, ...said }, description ?? '', required);
    }),
  );
}

/** What an `@ApiProperty` says of a query's field, in so far as it is schema. */
function saidOf(dto: Dto, name: string): { description?: string; [keyword: string]: unknown } {
  const said = (Reflect.getMetadata('swagger/apiModelProperties', dto.prototype as object, name) ??
    {}) as Record<string, unknown>;
  const { type, required: _, selfRequired: __, isArray: ___, ...rest } = said;
  return typeof type === 'string' ? { ...rest, type } : rest;
}

function filterParameters(field: string, spec: FilterSpec): MethodDecorator[] {
  const ops = spec.ops ?? DEFAULT_OPS[spec.type];
  return ops.map((op) => {
    const name = op === 'eq' ? field : `${field}[${op}]`;
    return parameter(name, opSchema(op, spec), spec.description ?? '', false);
  });
}

function opSchema(op: FilterOp, spec: FilterSpec): Record<string, unknown> {
  if (op === 'is_null') return { type: 'boolean' };
  if (op === 'in') return { type: 'array', minItems: 1, maxItems: 100, items: valueSchema(spec) };
  return valueSchema(spec);
}

function valueSchema({
  type,
  values,
  pattern,
}: Pick<FilterSpec, 'type' | 'values' | 'pattern'>): Record<string, unknown> {
  const schemas: Record<FilterType, Record<string, unknown>> = {
    string: { type: 'string', pattern: pattern ?? STORABLE_TEXT },
    uuid: { type: 'string', format: 'uuid' },
    enum: { type: 'string', enum: [...(values ?? [])] },
    time: { type: 'string', format: 'date-time' },
    date: { type: 'string', format: 'date' },
    integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    number: { type: 'number' },
    boolean: { type: 'boolean' },
  };
  return schemas[type];
}

function parameter(
  name: string,
  schema: Record<string, unknown>,
  description: string,
  required = false,
): MethodDecorator {
  // A list is one parameter whose values are separated by commas.
  const list = schema['type'] === 'array' ? { style: 'form' as const, explode: false } : {};
  return ApiQuery({ name, required, schema, ...list, ...(description === '' ? {} : { description }) });
}
