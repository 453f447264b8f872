import { inexactNumbers, mayBeInexact } from '@customer-platform/http';
import type { FieldError } from '@customer-platform/problem-json';
import { childPointer } from './json-pointer.js';

/** How deep a body may be nested; the body itself is level 1 (contract.md §2). */
export const MAXIMUM_DEPTH = 32;

/** Names that would reach into an object's prototype wherever a body is copied carelessly. */
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * What no schema can say about a JSON body: nesting, forbidden names, U+0000, lone surrogates, and numbers that
 * JSON cannot carry exactly. `text` is the very text that `value` was read from; `level` is where it stands.
 */
export function inspectJson(value: unknown, text: string, level = 1): FieldError[] {
  // Neither U+0000 nor a lone surrogate can stand in well-formed UTF-8 JSON but as an escape.
  const escapes = text.includes('\\u');
  if (isPlain(value, level, escapes)) return [];
  const errors: FieldError[] = [];
  report(value, '', level, errors);
  return errors.length > 0 ? errors : inexactNumbers(text);
}

/** The common case, without building a pointer: nothing to refuse anywhere below. */
function isPlain(value: unknown, level: number, escapes: boolean): boolean {
  switch (typeof value) {
    case 'string':
      return !escapes || isCleanText(value);
    case 'number':
      return !mayBeInexact(value);
    case 'object':
      return value === null || isPlainObject(value, level, escapes);
    default:
      return true;
  }
}

function isPlainObject(value: object, level: number, escapes: boolean): boolean {
  if (level > MAXIMUM_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, level + 1, escapes));
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key) || (escapes && !isCleanText(key))) return false;
    if (!isPlain((value as Record<string, unknown>)[key], level + 1, escapes)) return false;
  }
  return true;
}

function report(value: unknown, pointer: string, level: number, errors: FieldError[]): void {
  if (typeof value === 'string') reportText(value, pointer, errors);
  if (typeof value !== 'object' || value === null) return;
  if (level > MAXIMUM_DEPTH) {
    const detail = `The body is nested deeper than ${MAXIMUM_DEPTH} levels.`;
    errors.push({ pointer, code: 'not_allowed', detail });
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    const childAt = childPointer(pointer, printable(key));
    if (FORBIDDEN_KEYS.has(key)) {
      const detail = `The name ${key} is not allowed anywhere in a body.`;
      errors.push({ pointer: childAt, code: 'not_allowed', detail });
    } else {
      reportText(key, childAt, errors);
      report(child, childAt, level + 1, errors);
    }
  }
}

function reportText(text: string, pointer: string, errors: FieldError[]): void {
  if (isCleanText(text)) return;
  const detail = 'Text may hold neither U+0000 nor a lone surrogate.';
  errors.push({ pointer, code: 'invalid_format', detail });
}

function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A name as an answer can show it: what is refused in it is replaced, not repeated. */
function printable(name: string): string {
  return name.toWellFormed().replaceAll('\0', '\u{fffd}');
}
