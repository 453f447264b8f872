import { FieldErrors, type FieldCode } from '@customer-platform/problem-json';

/** How deep JSON may be nested; the body itself is level 1 (the public contract, "Requests and answers"). */
export const MAX_JSON_DEPTH = 32;

/** Names that would reach into an object's prototype wherever a body is copied carelessly. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** Whether a text may be stored: no U+0000, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * What no JSON body may contain anywhere: more than 32 levels, the keys `__proto__`, `constructor`, `prototype`,
 * text with U+0000 or a lone surrogate, a number too large for a double. None is the common case and costs one walk
 * without allocations.
 *
 * @param level where `value` stands, the body itself being 1
 */
export function checkJson(value: unknown, level = 1): FieldErrors {
  const errors = new FieldErrors();
  if (!isClean(value, level)) collect(value, '', level, errors);
  return errors;
}

function isClean(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isClean(item, depth + 1));
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    if (FORBIDDEN_KEYS.has(key) || !isStorableText(key) || !isClean(record[key], depth + 1)) return false;
  }
  return true;
}

/** Walks all of it, because all errors are counted; pointers are written while an answer has room for them. */
function collect(value: unknown, pointer: string, level: number, errors: FieldErrors): void {
  if (typeof value === 'string') {
    if (!isStorableText(value)) add(errors, 'invalid_format', pointer, 'text');
    return;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) add(errors, 'out_of_range', pointer, 'number');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (level > MAX_JSON_DEPTH) return add(errors, 'not_allowed', pointer, 'depth');
  for (const key of Object.keys(value)) {
    const place = errors.isFull ? '' : `${pointer}/${pointerToken(printable(key))}`;
    if (FORBIDDEN_KEYS.has(key)) add(errors, 'not_allowed', place, 'key');
    else {
      if (!isStorableText(key)) add(errors, 'invalid_format', place, 'name');
      collect((value as Record<string, unknown>)[key], place, level + 1, errors);
    }
  }
}

const DETAILS = {
  text: 'The text holds U+0000 or half of a surrogate pair.',
  name: 'A key holds U+0000 or half of a surrogate pair.',
  number: 'The number is too large.',
  depth: `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`,
  key: `The keys ${[...FORBIDDEN_KEYS].map((key) => `\`${key}\``).join(', ')} are not allowed at any depth.`,
} as const;

function add(errors: FieldErrors, code: FieldCode, pointer: string, what: keyof typeof DETAILS): void {
  if (errors.isFull) errors.count(code);
  else errors.add({ pointer, code, detail: DETAILS[what] });
}

/** A name as an answer can show it: what is refused in it is replaced, not repeated. */
function printable(name: string): string {
  return name.toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** A key as a token of a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
