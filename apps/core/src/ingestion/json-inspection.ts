import {
  checkJson,
  FORBIDDEN_KEYS,
  inexactNumbers,
  isStorableText,
  MAX_JSON_DEPTH,
  mayBeInexact,
} from '@customer-platform/http';
import { FieldErrors } from '@customer-platform/problem-json';

/**
 * What no schema can say about a JSON body: nesting, forbidden names, U+0000, lone surrogates, and numbers that
 * JSON cannot carry exactly. `text` is the very text that `value` was read from; `level` is where it stands.
 */
export function inspectJson(value: unknown, text: string, level = 1): FieldErrors {
  // Neither U+0000 nor a lone surrogate can stand in well-formed UTF-8 JSON but as an escape.
  const escapes = text.includes('\\u');
  if (isPlain(value, level, escapes)) return new FieldErrors();
  const errors = checkJson(value, level);
  return errors.total > 0 ? errors : inexactNumbers(text);
}

/** The common case, without building a pointer: nothing to refuse anywhere below. */
function isPlain(value: unknown, level: number, escapes: boolean): boolean {
  switch (typeof value) {
    case 'string':
      return !escapes || isStorableText(value);
    case 'number':
      return !mayBeInexact(value);
    case 'object':
      return value === null || isPlainObject(value, level, escapes);
    default:
      return true;
  }
}

function isPlainObject(value: object, level: number, escapes: boolean): boolean {
  if (level > MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, level + 1, escapes));
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key) || (escapes && !isStorableText(key))) return false;
    if (!isPlain((value as Record<string, unknown>)[key], level + 1, escapes)) return false;
  }
  return true;
}
