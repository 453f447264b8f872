import { isDeepStrictEqual } from 'node:util';
import { STORABLE_TEXT, type PropertyDescription } from './property-schema.js';
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

/** What is wrong with what an `@ApiProperty` says of a field, beside what validates it. */
export function faultsOf(said: Said, { required, nullable, isArray, schema }: PropertyDescription): string[] {
  const faults: string[] = [];
  const items = isArray && !('items' in said) ? (schema['items'] as Said) : {};
  const validated: Said = { ...(isArray ? items : schema), ...pick(schema, ARRAY_BOUNDS) };
  for (const bound of [...VALUE_BOUNDS, ...ARRAY_BOUNDS]) {
    // That a text can be stored holds of each; a pattern may say more than its validators let be read from them.
    if (!(bound in said) || !(bound in validated) || validated[bound] === STORABLE_TEXT) continue;
    if (isDeepStrictEqual(said[bound], validated[bound])) faults.push(`\`${bound}\` is written twice`);
    else
      faults.push(`\`${bound}\` is ${String(said[bound])}, its validators take ${String(validated[bound])}`);
  }
  for (const keyword of ['format', 'enum']) {
    if (!(keyword in said) || !(keyword in validated)) continue;
    const [shown, taken] = [said[keyword], validated[keyword]].map(inOrder);
    if (!isDeepStrictEqual(shown, taken))
      faults.push(`\`${keyword}\` is ${String(shown)}, its validators take ${String(taken)}`);
  }
  if (said['nullable'] === true && !nullable) faults.push('its validators take no null');
  if (said['required'] === false && required) faults.push('its validators require it');
  return faults;
}

/** Whether a type is what TypeScript made of a declaration that says more. */
function isVague({ type }: Said): boolean {
  return type === undefined || type === Object || type === Number || type === Array;
}

function inOrder(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).sort() : value;
}

/** The members of these names. */
function pick(from: Said, names: readonly string[]): Said {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}
