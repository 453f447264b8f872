import { ProblemError } from '@customer-platform/client';

/** What a refusal says of one field of the form: `/name`, and of what is inside it. */
export function errorAt(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof ProblemError)) return undefined;
  const found = error.errors.find(
    (each) => each.pointer === pointer || each.pointer?.startsWith(`${pointer}/`) === true,
  );
  return found === undefined ? undefined : (found.detail ?? found.code);
}

/** Whether all that was refused stands at a field of `pointers`; else it is to be said above them. */
export function isAtFields(error: unknown, pointers: readonly string[]): boolean {
  if (!(error instanceof ProblemError) || error.errors.length === 0) return false;
  return error.errors.every(({ pointer = '' }) =>
    pointers.some((each) => pointer === each || pointer.startsWith(`${each}/`)),
  );
}
