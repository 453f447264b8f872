import { ProblemError } from '@customer-platform/client';

/** Finds the contact that has the value already; undefined where nothing was refused for that. */
export function conflictingOf(error: unknown): string | undefined {
  if (!(error instanceof ProblemError) || error.code !== 'duplicate_value') return undefined;
  return (error.body as { conflicting_id?: string }).conflicting_id;
}
