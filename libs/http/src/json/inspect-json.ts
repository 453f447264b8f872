import { FieldErrors, type FieldCode } from '@customer-platform/problem-json';
import { inexactNumbers, mayBeInexact } from './json-numbers.js';
import { pointerToken } from './json-pointer.js';

/** How deep JSON may be nested; the body itself is level 1 (the public contract, "Requests and answers"). */
const MAX_JSON_DEPTH = 32;

/** Keys that no JSON may have: they would reach into an object's prototype wherever a body is copied carelessly. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a text may be stored: no U+0000, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** How many values a body may hold that is read a second time for its large numbers. */
const MAX_REREAD_VALUES = 10_000;

/** What a walk may come upon; the higher decides. */
const PLAIN = 0;
const INEXACT = 1;
const FORBIDDEN = 2;
type Found = typeof PLAIN | typeof INEXACT | typeof FORBIDDEN;

/** Where the JSON stands that is inspected, and how much of it there is. */
interface Inspected {
  /** Where `value` stands, the body itself being 1. */
  readonly level?: number;
  /** How many values it holds, where that may be many. */
  readonly values?: number;
}

/**
 * What no JSON may contain anywhere: more than 32 levels, the keys `__proto__`, `constructor`, `prototype`, text with
 * U+0000 or a lone surrogate, numbers that a double does not carry exactly. None is the common case and costs one walk
 * without allocations. Which numbers are inexact is told by reading the text again (2 µs a value, measured); among more
 * values than that takes a moment, any number beyond 2^53 is refused.
 *
 * @param text the very text that `value` was read from, of well-formed UTF-8; undefined where it was not JSON: a form
 */
export function inspectJson(
  value: unknown,
  text: string | undefined,
  { level = 1, values = 0 }: Inspected = {},
): FieldErrors {
  // Neither U+0000 nor a lone surrogate can stand in such a text but as an escape.
  const found = look(value, level, text?.includes('\\u') ?? true);
  const errors = new FieldErrors();
  if (found === FORBIDDEN) collect(value, '', level, errors);
  if (found !== INEXACT || text === undefined) return errors;
  if (values <= MAX_REREAD_VALUES) return inexactNumbers(text);
  const detail = `A body of more than ${MAX_REREAD_VALUES} values takes no number beyond 2^53; send it as text.`;
  errors.add({ pointer: '', code: 'out_of_range', detail });
  return errors;
}

function look(value: unknown, level: number, escapes: boolean): Found {
  switch (typeof value) {
    case 'string':
      return escapes && !isStorableText(value) ? FORBIDDEN : PLAIN;
    case 'number':
      if (!mayBeInexact(value)) return PLAIN;
      return Number.isFinite(value) ? INEXACT : FORBIDDEN;
    case 'object':
      return value === null ? PLAIN : lookInto(value, level, escapes);
    default:
      return PLAIN;
  }
}

function lookInto(value: object, level: number, escapes: boolean): Found {
  if (level > MAX_JSON_DEPTH) return FORBIDDEN;
  let worst: Found = PLAIN;
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = look(item, level + 1, escapes);
      if (found === FORBIDDEN) return FORBIDDEN;
      if (found === INEXACT) worst = INEXACT;
    }
    return worst;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    if (FORBIDDEN_KEYS.has(key) || (escapes && !isStorableText(key))) return FORBIDDEN;
    const found = look(record[key], level + 1, escapes);
    if (found === FORBIDDEN) return FORBIDDEN;
    if (found === INEXACT) worst = INEXACT;
  }
  return worst;
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
