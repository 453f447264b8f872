import type { FieldError } from './field-errors.js';
import { Problem, type ProblemBody } from './problem.js';
import { PROBLEMS, type ProblemCode } from './registry.js';

/** The problem body of every error (RFC 9457) as JSON Schema (2020-12). */
export const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'correlation_id'],
  properties: {
    type: { type: 'string', description: 'Path of the page about the code' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', description: 'Stable; part of the contract' },
    correlation_id: { type: 'string', format: 'uuid' },
    errors: {
      type: 'array',
      description: 'Every refused value, at most 20; a batch has a verdict on each item instead',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the body' },
          parameter: { type: 'string' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
    errors_total: { type: 'integer', minimum: 1, description: 'How many values were refused' },
  },
} as const;

const EXAMPLE_PATH = '/v1/core/contacts/019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f';
const EXAMPLE_CORRELATION_ID = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10';

/** What is refused in the examples, where the code is about refused values. */
const REFUSED: Partial<Record<ProblemCode, Omit<FieldError, 'detail'>>> = {
  validation_failed: { pointer: '/email', code: 'wrong_type' },
  placeholder_identifier: { pointer: '/external_id', code: 'placeholder_identifier' },
  occurred_at_in_future: { pointer: '/occurred_at', code: 'occurred_at_in_future' },
  invalid_id: { parameter: 'id', code: 'invalid_id' },
  unknown_parameter: { parameter: 'emial', code: 'unknown_parameter' },
  invalid_filter: { parameter: 'created_at[prefix]', code: 'invalid_filter' },
  invalid_sort: { parameter: 'sort', code: 'invalid_sort' },
  invalid_limit: { parameter: 'limit', code: 'invalid_limit' },
  invalid_cursor: { parameter: 'cursor', code: 'invalid_cursor' },
  cursor_mismatch: { parameter: 'cursor', code: 'cursor_mismatch' },
  idempotency_key_required: { parameter: 'Idempotency-Key', code: 'idempotency_key_required' },
  reference_not_found: { pointer: '/contact_id', code: 'reference_not_found' },
  reference_deleted: { pointer: '/contact_id', code: 'reference_deleted' },
};

/** A problem of this code as a caller may get it, the same each time: for descriptions. */
export function problemExample(code: ProblemCode): ProblemBody {
  const refused = REFUSED[code];
  const errors = refused && [{ ...refused, detail: PROBLEMS[code].meaning }];
  return new Problem(code, { ...(errors ? { errors } : {}) }).toBody({
    instance: EXAMPLE_PATH,
    correlationId: EXAMPLE_CORRELATION_ID,
  });
}
