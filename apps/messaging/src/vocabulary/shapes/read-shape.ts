import {
  FieldErrors,
  isProblemCode,
  Problem,
  shortName,
  type FieldCode,
  type FieldError,
} from '@customer-platform/problem-json';
import type { z } from 'zod';

/**
 * Reads a part of a body that is too deep or too varied for a DTO class, in the contract's words: every error with its
 * pointer, unknown fields named.
 * @param pointer of the part within the body, `/condition`
 * @throws Problem `validation_failed`, or the published code that all errors share
 */
export function readShape<S extends z.ZodType>(schema: S, value: unknown, pointer: string): z.output<S> {
  const errors = new FieldErrors();
  const read = tryShape(schema, value, pointer, errors);
  if (errors.total > 0) throw Problem.validation(errors);
  return read as z.output<S>;
}

/** As {@link readShape}, for a part beside others: undefined after adding what is wrong to `errors`. */
export function tryShape<S extends z.ZodType>(
  schema: S,
  value: unknown,
  pointer: string,
  errors: FieldErrors,
): z.output<S> | undefined {
  if (!holdsAtMost(value, MOST_VALUES)) {
    errors.add({ pointer, code: 'too_long', detail: `It holds more than ${MOST_VALUES} values.` });
    return undefined;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    for (const error of fieldErrors(issue, pointer)) errors.add(error);
  }
  return undefined;
}

/** A schema looks at every item, also of a list that is too long, and at each in every form that it may have. */
const MOST_VALUES = 5_000;

function holdsAtMost(value: unknown, most: number): boolean {
  const waiting = [value];
  for (let seen = 1; waiting.length > 0;) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    seen += members.length;
    if (seen > most) return false;
    for (const member of members) waiting.push(member);
  }
  return true;
}

function fieldErrors(issue: z.core.$ZodIssue, parent: string): FieldError[] {
  const pointer = [parent, ...issue.path.map((step) => escape(String(step)))].join('/');
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: `${pointer}/${escape(shortName(key))}`,
        code: 'unknown_field',
        detail: `There is no field \`${shortName(key)}\` here.`,
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
  return issues.reduce((deepest, issue) => Math.max(deepest, issue.path.length), 0);
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
