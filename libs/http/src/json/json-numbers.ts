import { FieldErrors } from '@customer-platform/problem-json';
import { pointerToken } from './json-pointer.js';

/** A number as written: sign, digits, fraction, exponent (RFC 8259 §6). */
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** The largest double has as many digits. */
const MOST_DIGITS = 309;
/** 5^23 alone has more than the 53 bits of a double: what ends in more zeros is none, whatever stands before them. */
const MOST_ZEROS = 22;

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
export function inexactNumbers(text: string): FieldErrors {
  const read = parseWithSource(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(source, value) ? INEXACT : value,
  );
  const errors = new FieldErrors();
  collect(read, '', errors);
  return errors;
}

function isInexact(source: string, value: number): boolean {
  if (!mayBeInexact(value)) return false;
  if (!Number.isFinite(value)) return true;
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  const significant = withoutZeros(digits);
  const shift = Number(exponent) - fraction.length + trailingZeros(digits);
  // Every double of this size is an integer, so a fraction that is left has been lost.
  if (shift < 0 || shift > MOST_ZEROS || significant.length > MOST_DIGITS) return true;
  return BigInt(significant) * 10n ** BigInt(shift) !== BigInt(Math.abs(value));
}

function trailingZeros(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}

function withoutZeros(digits: string): string {
  let begin = 0;
  while (digits[begin] === '0') begin += 1;
  return digits.slice(begin, digits.length - trailingZeros(digits));
}

function collect(value: unknown, pointer: string, errors: FieldErrors): void {
  if (value === INEXACT) {
    if (errors.isFull) return errors.count('out_of_range');
    const detail = 'The number is beyond 2^53 and cannot be carried exactly; send it as text.';
    errors.add({ pointer, code: 'out_of_range', detail });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value))
      collect(child, errors.isFull ? '' : `${pointer}/${pointerToken(key)}`, errors);
  }
}
