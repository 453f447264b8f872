import type { PropertyDescription } from './property-schema.js';
import type { Said } from './said-properties.js';

/** Bounds of a value, which @nestjs/swagger moves to the items where a description is of an array. */
const VALUE_BOUNDS = ['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum'] as const;
const ARRAY_BOUNDS = ['minItems', 'maxItems', 'uniqueItems'] as const;

/** What an `@ApiProperty` says of a field, completed by what validates it. What it says itself stands. */
export function completed(
  said: Said,
  { required, nullable, isArray, nested, schema }: PropertyDescription,
): Said {
  const requiredness = Array.isArray(said['required']) ? { selfRequired: required } : { required };
  const nullability = nullable ? { nullable: true } : {};
  const { type: validated, items, ...limits } = schema;
  if (nested) {
    const type = isVague(said) ? { type: () => nested, isArray } : {};
    return { ...pick(limits, ARRAY_BOUNDS), ...nullability, ...said, ...type, ...requiredness };
  }
  if (isArray) {
    const ofArray = { ...pick(limits, ARRAY_BOUNDS), ...nullability };
    if ('items' in said) return { ...ofArray, ...said, ...requiredness };
    const ofItems = items as Said;
    if (said['isArray'] === true)
      return { ...ofArray, ...pick(ofItems, [...VALUE_BOUNDS, 'format']), ...said, ...requiredness };
    return { ...ofArray, ...said, type: 'array', items, ...requiredness };
  }
  if ('enum' in said) return { ...nullability, ...said, ...requiredness };
  // TypeScript tells no more of `number | null` than that it is an object, and nothing of whole numbers.
  const type = isVague(said) && validated !== undefined ? { type: validated } : {};
  const first = 'enum' in limits ? { type: said['type'] } : {};
  return { ...first, ...limits, ...nullability, ...said, ...type, ...requiredness };
}

/** Whether a type is what TypeScript made of a declaration that says more. */
function isVague({ type }: Said): boolean {
  return type === undefined || type === Object || type === Number || type === Array;
}

/** The members of these names. */
function pick(from: Said, names: readonly string[]): Said {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}
