import { pointerToken } from '@customer-platform/http';
import { MAX_ERRORS, shortName } from '@customer-platform/problem-json';
import type { ErrorObject } from 'ajv';

/** What an event breaks: `pointer` is into the event as it was sent. No detail repeats a value. */
export interface Violation {
  readonly pointer: string;
  readonly detail: string;
}

const parameter = (name: string) => (error: ErrorObject) =>
  String((error.params as Record<string, unknown>)[name]);
const limit = parameter('limit');
const comparison = (error: ErrorObject): string =>
  `This must be ${parameter('comparison')(error)} ${limit(error)}.`;

const DETAILS: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: () => 'This property is required.',
  additionalProperties: () => 'This property is not described.',
  type: (error) => `This must be of the type ${parameter('type')(error).replaceAll(',', ' or ')}.`,
  enum: (error) => `Allowed are ${parameter('allowedValues')(error).replaceAll(',', ', ')}.`,
  const: (error) => `This must be ${parameter('allowedValue')(error)}.`,
  minLength: (error) => `This must have at least ${limit(error)} characters.`,
  maxLength: (error) => `This may have at most ${limit(error)} characters.`,
  pattern: (error) => `This must match ${parameter('pattern')(error)}.`,
  format: (error) => `This must have the format ${parameter('format')(error)}.`,
  minimum: comparison,
  maximum: comparison,
  exclusiveMinimum: comparison,
  exclusiveMaximum: comparison,
  minItems: (error) => `This must hold at least ${limit(error)} items.`,
  maxItems: (error) => `This may hold at most ${limit(error)} items.`,
  minProperties: (error) => `This must have at least ${limit(error)} properties.`,
  maxProperties: (error) => `This may have at most ${limit(error)} properties.`,
};

/** The names below the error's own place that errors are about. */
const CHILDREN: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: parameter('missingProperty'),
  additionalProperties: parameter('additionalProperty'),
};

/** What a compiled schema refused, each place once, as many as an answer names. */
export function violationsOf(errors: readonly ErrorObject[] | null | undefined): readonly Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of errors ?? []) {
    if (violations.size === MAX_ERRORS) break;
    const child = CHILDREN[error.keyword];
    const below = child ? `/${pointerToken(child(error))}` : '';
    // A caller's own name may hold what no answer can carry.
    const pointer = shortName(`/properties${error.instancePath}${below}`.toWellFormed());
    const detail = DETAILS[error.keyword]?.(error) ?? 'This does not hold the schema.';
    if (!violations.has(pointer)) violations.set(pointer, { pointer, detail });
  }
  return [...violations.values()];
}
