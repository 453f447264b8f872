import type { FieldError } from '@customer-platform/problem-json';

/** How deep JSON may be nested; the body itself is level 1 (the public contract, "Requests and answers"). */
export const MAX_JSON_DEPTH = 32;

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_ERRORS = 20;

/** Whether a text may be stored: no U+0000, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * What no JSON body may contain anywhere: more than 32 levels, the keys `__proto__`, `constructor`, `prototype`,
 * text with U+0000 or a lone surrogate, a number too large for a double. Answers at most 20 errors; none is the
 * common case and costs one walk without allocations.
 */
export function checkJson(value: unknown): FieldError[] {
  if (isClean(value, 1)) return [];
  const errors: FieldError[] = [];
  collect(value, '', 1, errors);
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

function collect(value: unknown, pointer: string, depth: number, errors: FieldError[]): void {
  if (errors.length >= MAX_ERRORS) return;
  if (typeof value === 'string') {
    if (!isStorableText(value)) {
      errors.push({
        pointer,
        code: 'invalid_format',
        detail: 'The text holds U+0000 or half of a surrogate pair.',
      });
    }
    return;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      errors.push({ pointer, code: 'out_of_range', detail: 'The number is too large.' });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_JSON_DEPTH) {
    const detail = `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`;
    errors.push({ pointer, code: 'out_of_range', detail });
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const place = `${pointer}/${pointerToken(key)}`;
    if (FORBIDDEN_KEYS.has(key)) {
      errors.push({ pointer: place, code: 'not_allowed', detail: `The key \`${key}\` is not allowed.` });
    } else if (!isStorableText(key)) {
      const detail = 'A key holds U+0000 or half of a surrogate pair.';
      errors.push({ pointer, code: 'invalid_format', detail });
    } else {
      collect(member, place, depth + 1, errors);
    }
  }
}

/** A key as a token of a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
