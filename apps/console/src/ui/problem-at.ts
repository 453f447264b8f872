import { ProblemError } from '@customer-platform/client';

/** What a refusal says of one field of a form, by its JSON Pointer; with `inside` also of what is within it. */
export function problemAt(error: unknown, pointer: string, inside = false): string | undefined {
  if (!(error instanceof ProblemError)) return undefined;
  const found = error.errors.find(
    (each) => each.pointer === pointer || (inside && each.pointer?.startsWith(`${pointer}/`) === true),
  );
  return found === undefined ? undefined : (found.detail ?? found.code);
}

/** Of all fields, by their JSON Pointers. */
export function problemsAt(error: unknown): Readonly<Record<string, string | undefined>> {
  if (!(error instanceof ProblemError)) return {};
  return Object.fromEntries(
    error.errors.flatMap(({ pointer, detail, code }) =>
      pointer === undefined ? [] : [[pointer, detail ?? code] as const],
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
