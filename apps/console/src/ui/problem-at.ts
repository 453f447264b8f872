import { ProblemError } from '@customer-platform/client';

/** A refusal's word on one field: its stable code, and the detail, which is in English. */
export interface FieldFault {
  code: string;
  detail: string | undefined;
}

/** The fault of a field: a sentence of the page's own language, or what the API says. */
export type Fault = string | FieldFault;

/** Finds what a refusal says of one field of a form, by its JSON Pointer; with `inside` also of what is within it. */
export function problemAt(error: unknown, pointer: string, inside = false): FieldFault | undefined {
  if (!(error instanceof ProblemError)) return undefined;
  const found = error.errors.find(
    (each) => each.pointer === pointer || (inside && each.pointer?.startsWith(`${pointer}/`) === true),
  );
  return found === undefined ? undefined : { code: found.code, detail: found.detail };
}

/** Finds the same of all fields, by their JSON Pointers. */
export function problemsAt(error: unknown): Readonly<Record<string, FieldFault | undefined>> {
  if (!(error instanceof ProblemError)) return {};
  return Object.fromEntries(
    error.errors.flatMap(({ pointer, detail, code }) =>
      pointer === undefined ? [] : [[pointer, { code, detail }] as const],
    ),
  );
}

/** Whether all that was refused stands at a field of `pointers`; else it is to be said above them. */
export function isAtFields(error: unknown, pointers: readonly string[]): boolean {
  if (!(error instanceof ProblemError) || error.errors.length === 0) return false;
  return error.errors.every(({ pointer = '' }) =>
    pointers.some((each) => pointer === each || pointer.startsWith(`${each}/`)),
  );
}
