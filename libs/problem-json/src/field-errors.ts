import { PROBLEMS, type ProblemCode } from './registry.js';

/** What can be wrong with one field: general codes, and any published code that a field can carry. */
export type FieldCode =
  | 'required'
  | 'immutable'
  | 'not_allowed'
  | 'unknown_field'
  | 'wrong_type'
  | 'too_long'
  | 'too_short'
  | 'out_of_range'
  | 'invalid_format'
  | 'invalid_enum'
  | 'duplicate_item'
  | ProblemCode;

/** One refused value: `pointer` (RFC 6901) into the body, or the name of a query `parameter`. */
export interface FieldError {
  pointer?: string;
  parameter?: string;
  code: FieldCode;
  detail: string;
}

/** How many refused values an answer names; all of them are counted beside (the public contract, "Problems"). */
export const MAX_ERRORS = 20;

/** The longest name of a caller's own that an answer repeats, in UTF-16 code units. */
const MAX_NAME = 200;

/**
 * What is wrong with one request: the first {@link MAX_ERRORS} are kept, all are counted. A body of a megabyte can
 * hold a hundred thousand wrong values, and neither time nor memory shall go into telling of each.
 */
export class FieldErrors {
  /** The errors that the answer names. */
  readonly named: FieldError[] = [];
  #total = 0;
  #shared: FieldCode | undefined;

  constructor(errors: readonly FieldError[] = []) {
    for (const error of errors) this.add(error);
  }

  /** How many values were refused. */
  get total(): number {
    return this.#total;
  }

  /** Whether another error is only counted, so that its pointer and its text need not be written. */
  get isFull(): boolean {
    return this.named.length >= MAX_ERRORS;
  }

  /** The published code that all errors have. */
  get sharedCode(): ProblemCode | undefined {
    const code = this.#shared;
    return code !== undefined && Object.hasOwn(PROBLEMS, code) ? (code as ProblemCode) : undefined;
  }

  add(error: FieldError): void {
    this.count(error.code);
    if (!this.isFull) this.named.push(shortened(error));
  }

  /** Counts an error that need not be named, since the answer is full: see {@link isFull}. */
  count(code: FieldCode): void {
    this.#shared = this.#total === 0 || this.#shared === code ? code : undefined;
    this.#total += 1;
  }
}

/** A pointer holds the names that the caller chose: neither thirty of them nor one of a megabyte are repeated whole. */
function shortened(error: FieldError): FieldError {
  const { pointer, parameter } = error;
  if ((pointer?.length ?? 0) <= MAX_NAME && (parameter?.length ?? 0) <= MAX_NAME) return error;
  return {
    ...error,
    ...(pointer === undefined ? {} : { pointer: shortName(pointer) }),
    ...(parameter === undefined ? {} : { parameter: shortName(parameter) }),
  };
}

/** A name of the caller's own as an answer repeats it: cut, and never within a character. */
export function shortName(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME).toWellFormed()}…`;
}
