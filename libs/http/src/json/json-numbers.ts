import type { FieldError } from '@customer-platform/problem-json';
import { childPointer } from './json-pointer.js';

/** A number as written: sign, digits, fraction, exponent (RFC 8259 §6). */
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Stands in a read text where a number would have been changed by reading it. */
const INEXACT = Symbol('inexact');

type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

/** Whether a number that was read may have lost digits: from 2^53 on its text decides. */
export function mayBeInexact(value: number): boolean {
  return value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER;
}

/**
 * The numbers of a JSON text that a double cannot carry: beyond 2^53 and not representable exactly (core.md §8).
 * Slow beside a plain read: for texts that hold a number of that size.
 */
export function inexactNumbers(text: string): FieldError[] {
  const read = parseWithSource(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(source, value) ? INEXACT : value,
  );
  const errors: FieldError[] = [];
  collect(read, '', errors);
  return errors;
}

function isInexact(source: string, value: number): boolean {
  if (!mayBeInexact(value)) return false;
  if (!Number.isFinite(value)) return true;
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  const significant = digits.replace(/0+$/, '');
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  // Every double of this size is an integer, so a fraction that is left has been lost.
  if (shift < 0) return true;
  return BigInt(significant) * 10n ** BigInt(shift) !== BigInt(Math.abs(value));
}

function collect(value: unknown, pointer: string, errors: FieldError[]): void {
  if (value === INEXACT) {
    const detail = 'The number is beyond 2^53 and cannot be carried exactly; send it as text.';
    errors.push({ pointer, code: 'out_of_range', detail });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) collect(child, childPointer(pointer, key), errors);
  }
}
