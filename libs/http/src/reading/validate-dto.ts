import { validate, type ValidationError } from 'class-validator';
import {
  isProblemCode,
  Problem,
  type FieldCode,
  type FieldError,
  type FieldErrors,
} from '@customer-platform/problem-json';
import { pointerToken } from '../json/json-pointer.js';
import { readDto } from './read-dto.js';
import { codeOfConstraint } from './validation-codes.js';

/**
 * A body as an instance of its DTO class.
 * @throws `validation_failed`, or the published code that all errors share, with every error by JSON pointer.
 */
export async function validateBody<T extends object>(dto: new () => T, value: unknown): Promise<T> {
  if (value === undefined) {
    throw Problem.validation([{ pointer: '', code: 'required', detail: 'The body is missing.' }]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw Problem.validation([
      { pointer: '', code: 'wrong_type', detail: 'The body must be a JSON object.' },
    ]);
  }
  const { instance, errors } = await inspect(dto, value);
  if (errors.total > 0) throw Problem.validation(errors);
  return instance;
}

/** The parameters of a query as an instance of its DTO class; errors name the parameter. */
export async function validateQuery<T extends object>(dto: new () => T, value: object): Promise<T> {
  const { instance, errors } = await inspect(dto, value);
  if (errors.total === 0) return instance;
  const named = errors.named.map(({ pointer = '', code, detail }) => ({
    parameter: pointer.split('/')[1] ?? '',
    code,
    detail,
  }));
  throw Problem.validation(named);
}

/** Validates any value against a DTO class and answers what is wrong with it, unknown fields included. */
export async function inspect<T extends object>(
  dto: new () => T,
  value: object,
): Promise<{ instance: T; errors: FieldErrors }> {
  const { instance, errors, outgrown } = readDto(dto, value);
  const failures = await validate(instance, { forbidUnknownValues: false });
  addFailures(failures, '', outgrown, errors);
  if (errors.total > 0) addFurther(dto, instance as T, errors);
  return { instance: instance as T, errors };
}

/** What a service would refuse of a body whose fields are of the right types. */
type FurtherCheck<T> = (body: T) => readonly FieldError[];

const furtherChecks = new WeakMap<object, FurtherCheck<never>>();

/**
 * Has a body that is refused anyhow looked through by what its service checks later, so that the caller is told of all
 * fields at once. A field that is refused already is passed over; `check` must pass over values of a wrong type.
 */
export function checkFurther<T extends object>(dto: new () => T, check: FurtherCheck<T>): void {
  furtherChecks.set(dto, check);
}

function addFurther<T extends object>(dto: new () => T, instance: T, errors: FieldErrors): void {
  const check = furtherChecks.get(dto) as FurtherCheck<T> | undefined;
  const told = new Set(errors.named.map(({ pointer }) => pointer));
  for (const error of check?.(instance) ?? []) if (!told.has(error.pointer)) errors.add(error);
}

function addFailures(
  failures: readonly ValidationError[],
  parent: string,
  outgrown: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  for (const failure of failures) {
    const pointer = `${parent}/${pointerToken(failure.property)}`;
    // A value beyond its bound has its error; that it is missing in the instance is none.
    if (outgrown.has(pointer)) continue;
    // What is wrong within a value that is wrong as a whole would only confuse.
    if (failure.constraints) errors.add(ownError(failure, failure.constraints, pointer));
    else addFailures(failure.children ?? [], pointer, outgrown, errors);
  }
}

/** One error per field: the constraint that tells most; a missing value is `required`, whatever failed. */
function ownError(
  failure: ValidationError,
  constraints: Record<string, string>,
  pointer: string,
): FieldError {
  const name = failure.property;
  if (failure.value === undefined) return { pointer, code: 'required', detail: `\`${name}\` is required.` };
  const [telling] = Object.keys(constraints)
    .map((constraint) => ({ constraint, ...codeOfConstraint(constraint) }))
    .sort((a, b) => a.rank - b.rank);
  const constraint = telling?.constraint ?? '';
  const message = constraints[constraint] ?? `${name} is not valid`;
  const code =
    statedCode(failure, constraint) ?? lengthCode(constraint, failure.value, message) ?? telling?.code;
  return { pointer, code: code ?? 'invalid_format', detail: sentence(message, name) };
}

function statedCode(failure: ValidationError, constraint: string): FieldCode | undefined {
  const context = failure.contexts?.[constraint] as { code?: unknown } | undefined;
  if (typeof context?.code !== 'string') return undefined;
  return isProblemCode(context.code) ? context.code : (context.code as FieldCode);
}

/** `Length` fails for several reasons; which one shows in the value and in its message. */
function lengthCode(constraint: string, value: unknown, message: string): FieldCode | undefined {
  if (constraint !== 'isLength') return undefined;
  if (typeof value !== 'string') return 'wrong_type';
  return value.length === 0 || message.includes('longer than') ? 'too_short' : 'too_long';
}

/** class-validator's texts begin with the field's name, which is no word of the sentence. */
function sentence(text: string, name: string): string {
  const marked = text.startsWith(`${name} `) ? `\`${name}\`${text.slice(name.length)}` : text;
  return marked.endsWith('.') ? marked : `${marked}.`;
}
