import { ProblemError } from '@customer-platform/client';

/** What is wrong with each field of a form, by its JSON Pointer. */
export function fieldErrors(error: unknown): Readonly<Record<string, string | undefined>> {
  if (!(error instanceof ProblemError)) return {};
  return Object.fromEntries(
    error.errors.flatMap(({ pointer, detail, code }) =>
      pointer === undefined ? [] : [[pointer, detail ?? code] as const],
    ),
  );
}
