import { isProblemCode, Problem, type FieldCode, type FieldError } from '@customer-platform/problem-json';
import type { z } from 'zod';

/**
 * Reads a part of a body that is too deep or too varied for a DTO class, in the contract's words: every error with its
 * pointer, unknown fields named.
 * @param pointer of the part within the body, `/condition`
 * @throws Problem `validation_failed`, or the published code that all errors share
 */
export function readShape<S extends z.ZodType>(schema: S, value: unknown, pointer: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw Problem.validation(result.error.issues.flatMap((issue) => fieldErrors(issue, pointer)));
}

function fieldErrors(issue: z.core.$ZodIssue, parent: string): FieldError[] {
  const pointer = [parent, ...issue.path.map((step) => escape(String(step)))].join('/');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: `${pointer}/${escape(key)}`,
        code: 'unknown_field',
        detail: `There is no field \`${key.slice(0, 100)}\` here.`,
      }));
    case 'invalid_type':
      return [typeError(issue, pointer)];
    case 'too_big':
    case 'too_small':
      return [{ pointer, code: sizeCode(issue), detail: `${issue.message}.` }];
    case 'invalid_value':
      return [{ pointer, code: 'invalid_enum', detail: `One of ${issue.values.map(String).join(', ')}.` }];
    case 'invalid_union':
      return unionErrors(issue, pointer);
    case 'custom':
      return [{ pointer, code: customCode(issue.params), detail: `${issue.message}.` }];
    default:
      return [{ pointer, code: 'invalid_format', detail: `${issue.message}.` }];
  }
}

function typeError(issue: z.core.$ZodIssueInvalidType, pointer: string): FieldError {
  const missing = issue.input === undefined && issue.message.endsWith('undefined');
  return missing
    ? { pointer, code: 'required', detail: 'A value is required.' }
    : { pointer, code: 'wrong_type', detail: `Expected ${issue.expected}.` };
}

function sizeCode(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): FieldCode {
  if (issue.origin === 'number' || issue.origin === 'int') return 'out_of_range';
  return issue.code === 'too_big' ? 'too_long' : 'too_short';
}

/** Of several forms none fits: what the most fitting one lacks says most. */
function unionErrors(issue: z.core.$ZodIssueInvalidUnion, pointer: string): FieldError[] {
  const variants = issue.errors.filter((errors) => errors.length > 0);
  const [nearest] = variants.sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length);
  if (!nearest) return [{ pointer, code: 'invalid_enum', detail: `${issue.message}.` }];
  return nearest.flatMap((inner) => fieldErrors(inner, pointer));
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(...issues.map((issue) => issue.path.length));
}

/** A check of ours says its code: `{ params: { code: 'invalid_address' } }`. */
function customCode(params: Record<string, unknown> | undefined): FieldCode {
  const code = params?.['code'];
  if (typeof code !== 'string') return 'invalid_format';
  return isProblemCode(code) ? code : (code as FieldCode);
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
