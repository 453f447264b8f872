import type { Field } from '../../fields/field.js';
import type { ObjectDefinition } from './object-definition.entity.js';

/** The media type of a JSON Schema. */
export const SCHEMA_TYPE = 'application/schema+json';

const SAFE = Number.MAX_SAFE_INTEGER;

/** Whether the header names the media type itself: a browser's wildcard means the definition. */
export function wantsSchema(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === SCHEMA_TYPE);
}

/**
 * The JSON Schema (2020-12) of what `POST` takes for a record. What no schema says is not in it: that values are unique,
 * that what is referred to is there, that all of them together have at most 64 KiB.
 */
export function recordSchemaOf({ id, name, fields }: ObjectDefinition): Record<string, unknown> {
  const open = fields.filter(({ archived }) => !archived);
  const required = open.filter((field) => field.required).map(({ key }) => key);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:customer-platform:object-definition:${id}`,
    title: name,
    type: 'object',
    required: ['values'],
    additionalProperties: false,
    properties: {
      values: {
        type: 'object',
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
        properties: Object.fromEntries(open.map((field) => [field.key, schemaOf(field)])),
      },
    },
  };
}

function schemaOf(field: Field): Record<string, unknown> {
  const value = valueSchemaOf(field);
  return { title: field.label, ...(field.required ? value : { anyOf: [value, { type: 'null' }] }) };
}

function valueSchemaOf(field: Field): Record<string, unknown> {
  switch (field.type) {
    case 'string':
      return { type: 'string', maxLength: field.max_length };
    case 'integer':
    case 'number':
      return { type: field.type, minimum: field.min ?? -SAFE, maximum: field.max ?? SAFE };
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'datetime':
      return { type: 'string', format: 'date-time' };
    case 'enum':
      return { enum: field.options.filter(({ archived }) => !archived).map(({ value }) => value) };
    case 'reference':
      return { type: 'string', format: 'uuid' };
  }
}
