import type { FieldError } from '@customer-platform/problem-json';

/** Attributes of a row as they are written, or what is wrong with them. */
type ReadAttributes =
  { readonly attributes: Record<string, unknown> } | { readonly errors: readonly FieldError[] };

/**
 * The one place where the attributes of an imported row are looked at before they are written: nothing is inferred, a cell
 * of CSV is a text, a value of JSON what it is (core.md §8). What is wrong is named at `/attributes/<key>`.
 */
export function readAttributes(given: Record<string, unknown>): ReadAttributes {
  return { attributes: given };
}
