import { pointerToken } from '@customer-platform/http';
import { FieldErrors, type FieldCode, type FieldError } from '@customer-platform/problem-json';
import type { ErrorObject } from 'ajv';

interface Reading {
  code: FieldCode;
  detail: (error: ErrorObject) => string;
  /** The name below the error's own place that the error is about. */
  child?: (error: ErrorObject) => string;
}

const parameter = (name: string) => (error: ErrorObject) =>
  String((error.params as Record<string, unknown>)[name]);

const READINGS: Record<string, Reading> = {
  required: {
    code: 'required',
    detail: () => 'This field is required.',
    child: parameter('missingProperty'),
  },
  additionalProperties: {
    code: 'unknown_field',
    detail: (error) => `This field is not known here; allowed are ${allowedNames(error)}.`,
    child: parameter('additionalProperty'),
  },
  type: { code: 'wrong_type', detail: (error) => `This must be of the type ${parameter('type')(error)}.` },
  minLength: { code: 'too_short', detail: (error) => `This must have at least ${limit(error)} characters.` },
  maxLength: { code: 'too_long', detail: (error) => `This may have at most ${limit(error)} characters.` },
  minItems: { code: 'too_short', detail: (error) => `This must hold at least ${limit(error)} items.` },
  maxItems: { code: 'too_long', detail: (error) => `This may hold at most ${limit(error)} items.` },
  enum: { code: 'invalid_enum', detail: (error) => `Allowed are ${parameter('allowedValues')(error)}.` },
  pattern: { code: 'invalid_format', detail: () => 'This has not the form of a type of identity.' },
};

/** What a compiled schema refused, in the words of the contract; each value once, whatever it breaks of one kind. */
export function addSchemaErrors(
  refusals: readonly ErrorObject[] | null | undefined,
  errors: FieldErrors,
): void {
  const told = new Set(errors.named.map(place));
  for (const refusal of refusals ?? []) {
    const reading = READINGS[refusal.keyword];
    if (!reading) throw new TypeError(`No answer is written for the schema keyword ${refusal.keyword}`);
    if (errors.isFull) {
      errors.count(reading.code);
      continue;
    }
    const pointer = reading.child
      ? `${refusal.instancePath}/${pointerToken(reading.child(refusal))}`
      : refusal.instancePath;
    // A caller's own name may hold what no answer can carry.
    const error = { pointer: pointer.toWellFormed(), code: reading.code, detail: reading.detail(refusal) };
    if (told.has(place(error))) continue;
    told.add(place(error));
    errors.add(error);
  }
}

function place({ code, pointer = '' }: FieldError): string {
  return `${code} ${pointer}`;
}

function limit(error: ErrorObject): string {
  return parameter('limit')(error);
}

function allowedNames(error: ErrorObject): string {
  const { properties = {} } = (error.parentSchema ?? {}) as { properties?: object };
  return Object.keys(properties).join(', ');
}
