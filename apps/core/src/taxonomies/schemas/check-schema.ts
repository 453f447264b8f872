import { pointerToken } from '@customer-platform/http';
import { DIALECT, type EventSchema } from './event-schema.js';
import { FORMATS } from './formats.js';
import { linearPattern, LONGEST_PATTERNED } from './linear-pattern.js';

/** What a schema may be at most, so that neither compiling it nor holding an event against it holds up the loop. */
export const SCHEMA_LIMITS = {
  /** Characters of its JSON. */
  length: 16 * 1024,
  /** Schemas within schemas; the schema itself is the first level. */
  depth: 5,
  /** Schemas in all, itself included. */
  schemas: 150,
  /** Declared properties of one object. */
  properties: 60,
  enumValues: 100,
  /** Characters of a title, a description, an allowed value or a name. */
  text: 500,
  /** Items of an array: every array declares how many it may hold. */
  items: 200,
} as const;

/** A schema that is not taken; `pointer` is into the schema. */
class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';

  constructor(
    readonly pointer: string,
    reason: string,
  ) {
    super(`${pointer || 'The schema'}: ${reason}`);
  }
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= SCHEMA_LIMITS.text;
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || isNumber(value) || isText(value);
const isListOf =
  (of: (value: unknown) => boolean, most: number) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= most &&
    new Set(value).size === value.length &&
    value.every(of);
const isType = (value: unknown): boolean => typeof value === 'string' && TYPES.includes(value);
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every keyword that a schema may use, with what it may be; there is none that refers, combines or evaluates. */
const KEYWORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: (value) => value === DIALECT,
  title: isText,
  description: isText,
  type: (value) => isType(value) || isListOf(isType, TYPES.length)(value),
  enum: isListOf(isScalar, SCHEMA_LIMITS.enumValues),
  const: isScalar,
  minLength: isCount,
  maxLength: isCount,
  pattern: (value) => typeof value === 'string',
  format: (value) => typeof value === 'string' && Object.hasOwn(FORMATS, value),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minItems: isCount,
  maxItems: (value) => isCount(value) && (value as number) <= SCHEMA_LIMITS.items,
  items: isPlain,
  required: isListOf(isText, SCHEMA_LIMITS.properties),
  properties: (value) => isPlain(value) && Object.keys(value).length <= SCHEMA_LIMITS.properties,
  additionalProperties: (value) => typeof value === 'boolean' || isPlain(value),
  minProperties: isCount,
  maxProperties: isCount,
};

/**
 * Refuses what is no schema of an event's properties, or exceeds {@link SCHEMA_LIMITS}. Takes time in the size of a
 * schema that is within them, however large the given one is.
 * @throws SchemaRefused
 */
export function checkSchema(schema: unknown): asserts schema is EventSchema {
  const counter = { schemas: 0 };
  checkValue(schema, '', 1, counter);
  if ((schema as Record<string, unknown>)['type'] !== 'object')
    throw new SchemaRefused('/type', 'properties are an object');
  // Its depth is known by now: writing it down cannot overflow the stack.
  if (JSON.stringify(schema).length > SCHEMA_LIMITS.length)
    throw new SchemaRefused('', `it has more than ${SCHEMA_LIMITS.length} characters`);
}

function checkValue(schema: unknown, at: string, depth: number, counter: { schemas: number }): void {
  if (!isPlain(schema)) throw new SchemaRefused(at, 'a schema is an object');
  if (depth > SCHEMA_LIMITS.depth) throw new SchemaRefused(at, `it is more than ${SCHEMA_LIMITS.depth} deep`);
  counter.schemas += 1;
  if (counter.schemas > SCHEMA_LIMITS.schemas)
    throw new SchemaRefused(at, `there are more than ${SCHEMA_LIMITS.schemas} schemas`);
  for (const [keyword, value] of Object.entries(schema)) {
    if (!Object.hasOwn(KEYWORDS, keyword)) throw new SchemaRefused(at, `the keyword ${keyword} is not taken`);
    if (!KEYWORDS[keyword]?.(value))
      throw new SchemaRefused(`${at}/${keyword}`, 'it has not a form that is taken');
  }
  if (schema['type'] === undefined) throw new SchemaRefused(at, 'it names no type');
  checkBounds(schema, at);
  const { properties, items, additionalProperties: others } = schema;
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (!isText(name) || name === '__proto__')
      throw new SchemaRefused(`${at}/properties`, 'a name is not taken');
    checkValue(property, `${at}/properties/${pointerToken(name)}`, depth + 1, counter);
  }
  if (items !== undefined) checkValue(items, `${at}/items`, depth + 1, counter);
  if (isPlain(others)) checkValue(others, `${at}/additionalProperties`, depth + 1, counter);
}

/** What is looked through must be bounded: lists in items, texts with a pattern in characters. */
function checkBounds(schema: Record<string, unknown>, at: string): void {
  const { type, maxItems, maxLength, pattern } = schema;
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  if (types.includes('array') && maxItems === undefined)
    throw new SchemaRefused(at, 'an array declares its maxItems');
  if (typeof pattern !== 'string') return;
  if (typeof maxLength !== 'number' || maxLength > LONGEST_PATTERNED)
    throw new SchemaRefused(at, `a text with a pattern declares a maxLength of ${LONGEST_PATTERNED} at most`);
  try {
    linearPattern(pattern);
  } catch (error) {
    throw new SchemaRefused(`${at}/pattern`, error instanceof Error ? error.message : 'it is no pattern');
  }
}
