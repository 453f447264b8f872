import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type { Dto } from '../endpoints/route-declaration.js';
import { nestedDto } from '../reading/dto-shape.js';
import { LANGUAGE_TAG } from '../reading/locales.js';

/** What a DTO's field looks like in OpenAPI, read from what validates it: nothing is declared twice. */
export interface PropertyDescription {
  readonly required: boolean;
  /** Whether null is taken. */
  readonly nullable: boolean;
  /** Whether no value is taken. */
  readonly refused: boolean;
  readonly isArray: boolean;
  /** The class of a nested DTO. */
  readonly nested?: Dto;
  readonly schema: Record<string, unknown>;
}

type Part = Record<string, unknown>;
type Translation = (constraints: readonly unknown[]) => Part;

/** Text that may be stored: half of a surrogate pair is in no JSON text and in no query to begin with. */
export const STORABLE_TEXT = '^[^\\u0000]*$';

/** With one of these a string says more of its text than that it may be stored. */
const SAYS_ITS_TEXT: ReadonlySet<string> = new Set(['pattern', 'format', 'enum', 'const']);

/** Constraints of class-validator as JSON Schema (2020-12). */
const TRANSLATIONS: Record<string, Translation> = {
  isString: () => ({ type: 'string' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  isBoolean: () => ({ type: 'boolean' }),
  isObject: () => ({ type: 'object', additionalProperties: true }),
  isInstant: () => ({ type: 'string', format: 'date-time' }),
  isLocaleTag: () => ({ type: 'string', pattern: LANGUAGE_TAG.source }),
  isISO8601: () => ({ type: 'string', format: 'date-time' }),
  isUuid: () => ({ type: 'string', format: 'uuid' }),
  isEmail: () => ({ type: 'string', format: 'email' }),
  isUrl: () => ({ type: 'string', format: 'uri' }),
  isIn: ([values]) => ({ ...typeOf(values), enum: values }),
  isEnum: ([, values]) => ({ enum: values }),
  equals: ([value]) => ({ const: value }),
  minLength: ([least]) => ({ minLength: least }),
  maxLength: ([most]) => ({ maxLength: most }),
  isLength: ([least, most]) => ({ minLength: least, ...(most === undefined ? {} : { maxLength: most }) }),
  matches: ([pattern]) => (pattern instanceof RegExp ? { type: 'string', pattern: pattern.source } : {}),
  min: ([least]) => ({ minimum: least }),
  max: ([most]) => ({ maximum: most }),
  isPositive: () => ({ exclusiveMinimum: 0 }),
};

const ARRAY_TRANSLATIONS: Record<string, Translation> = {
  isArray: () => ({}),
  arrayMinSize: ([least]) => ({ minItems: least }),
  arrayMaxSize: ([most]) => ({ maxItems: most }),
  arrayNotEmpty: () => ({ minItems: 1 }),
  arrayUnique: () => ({ uniqueItems: true }),
  isWithoutRepeats: () => ({ uniqueItems: true }),
};

/** Describes one field of a DTO class. */
export function propertySchema(dto: Dto, field: string): PropertyDescription {
  const metadatas = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .filter(({ propertyName }) => propertyName === field);
  const conditions = metadatas
    .filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION)
    .map(({ constraints }) => (constraints as [(object: object, value: unknown) => boolean])[0]);
  const skips = (value: unknown) => conditions.some((applies) => !asks(applies, field, value));
  let array: Part | undefined;
  const item: Part = {};
  for (const { name, constraints, each } of metadatas) {
    const listPart = ARRAY_TRANSLATIONS[name ?? '']?.(constraints ?? []);
    if (listPart) array = { ...array, ...listPart };
    else {
      if (each) array ??= {};
      Object.assign(item, TRANSLATIONS[name ?? '']?.(constraints ?? []));
    }
  }
  if (isText(item)) item['pattern'] = STORABLE_TEXT;
  const nested = nestedDto(dto, field);
  const schema = array ? { type: 'array', ...array, items: item } : item;
  const nullable = skips(null);
  const nullability = nullable && Object.keys(schema).length > 0 ? { nullable } : {};
  return {
    required: !skips(undefined),
    nullable,
    refused: metadatas.some(({ name }) => name === 'isImmutable'),
    isArray: array !== undefined,
    ...(nested ? { nested } : {}),
    schema: { ...schema, ...nullability },
  };
}

/** The type that all values have, if they have one. */
function typeOf(values: unknown): Part {
  const [type, ...further] = new Set(Array.isArray(values) ? values.map((value) => typeof value) : []);
  return type === undefined || further.length > 0 ? {} : { type };
}

/** Whether it is a string of which no more is said than its length. */
function isText(item: Part): boolean {
  const keys = Object.keys(item);
  if (keys.some((key) => SAYS_ITS_TEXT.has(key))) return false;
  return item['type'] === 'string' || keys.some((key) => key === 'minLength' || key === 'maxLength');
}

/** Whether a condition asks for validation of this value; one that reads other fields cannot be told and asks. */
function asks(applies: (object: object, value: unknown) => boolean, field: string, value: unknown): boolean {
  try {
    return applies({ [field]: value }, value);
  } catch {
    return true;
  }
}
