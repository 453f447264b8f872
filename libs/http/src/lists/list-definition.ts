import type { TextCollation } from './text-collations.js';

/** Operators of a filter, `field[op]=value`; plain `field=value` is `eq`. */
export type FilterOp = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'prefix' | 'is_null';

/** The type of a filter's value. */
export type FilterType = 'string' | 'uuid' | 'enum' | 'time' | 'date' | 'integer' | 'number' | 'boolean';

/** A field that a list can be filtered by. */
export interface FilterSpec {
  readonly type: FilterType;
  /** SQL expression, trusted: written by us, never built from input. */
  readonly column: string;
  /** The expression that `prefix` compares, where it is another: `lower(…)` ignores case, while the other operators do not. */
  readonly prefixColumn?: string;
  /** The operators it takes; default by type (the public contract, "Lists"). */
  readonly ops?: readonly FilterOp[];
  /** The values of an `enum`. */
  readonly values?: readonly string[];
  /** What a text looks like that the resource takes; it checks that itself. */
  readonly pattern?: string;
  readonly description?: string;
}

/** A field that a list can be sorted by. */
export interface SortSpec {
  /** SQL expression, trusted. */
  readonly column: string;
  readonly type: 'time' | 'date' | 'string' | 'integer' | 'number' | 'boolean' | 'uuid';
  /** The only direction it is offered in; absent: both. */
  readonly only?: 'asc' | 'desc';
  /** Text that people read: sorted by the organization's language, not by its bytes. Its column is of type text. */
  readonly byLanguage?: true;
  /** Where nulls go, in either direction; absent: the column is never null. */
  readonly nulls?: 'first' | 'last';
}

/** A query parameter that is no filter, e.g. `view=history`. */
interface ParameterSpec {
  readonly type: FilterType;
  readonly values?: readonly string[];
  /** What a text looks like that the resource takes; it checks that itself. */
  readonly pattern?: string;
  readonly required?: boolean;
  readonly description?: string;
}

/** What a list takes and what it is sorted by. Give it to `@ListRequest`. */
export interface ListDefinition {
  /** Name of the list; a cursor of one list is none of another. */
  readonly resource: string;
  readonly filters: Readonly<Record<string, FilterSpec>>;
  readonly sorts: Readonly<Record<string, SortSpec>>;
  /** As in the query, e.g. `-created_at`. */
  readonly defaultSort: string;
  /** Offers `include_deleted`. */
  readonly includeDeleted?: boolean;
  /** Offers `before_occurred_at` with `before_id`, and the filter `occurred_at` by range over this column. */
  readonly timelineSource?: { readonly occurredAt: string };
  readonly extraParameters?: Readonly<Record<string, ParameterSpec>>;
  /** What makes the order total; default the column `id`, a UUID. */
  readonly tieBreaker?: { readonly field: string; readonly column: string; readonly type: SortSpec['type'] };
}

/** A value of a filter: times and dates as ISO text in UTC. */
export type FilterValue = string | number | boolean;

/** One condition of a list; all are joined by AND. */
export interface ListFilter {
  readonly field: string;
  readonly op: FilterOp;
  readonly column: string;
  readonly type: FilterType;
  /** The first value. */
  readonly value: FilterValue;
  /** One value, or up to 100 for `in`. */
  readonly values: readonly FilterValue[];
}

/** One level of a list's order. */
export interface ListSort {
  readonly field: string;
  readonly column: string;
  readonly type: SortSpec['type'];
  readonly direction: 'asc' | 'desc';
  /** The collation of text that is sorted by language; absent for all else, and while a cursor older than collations goes on. */
  readonly collation?: TextCollation;
  readonly nulls?: 'first' | 'last';
}

/** A list request, checked. */
export interface ListQuery {
  /** 1 to 200. */
  readonly limit: number;
  readonly filters: readonly ListFilter[];
  /** The tie-breaker last. */
  readonly sort: readonly ListSort[];
  /** Keyset values from the cursor, one per level of `sort`. */
  readonly after?: readonly (string | null)[];
  /** The version that the collation had when the cursor was issued; whoever reads the page compares it. */
  readonly collationVersion?: string;
  /** Only rows strictly before this pair in (`column` descending, id descending). */
  readonly before?: { readonly occurredAt: string; readonly id: string; readonly column: string };
  readonly visibility: 'live' | 'any';
  /** Values of the definition's extra parameters. */
  readonly parameters: Readonly<Record<string, FilterValue | undefined>>;
  /**
   * The cursor that goes on after a row with these sort values, in the order of `sort`; with the version of the
   * collation where one of them has one.
   */
  cursorFor(values: readonly (string | null)[], collationVersion?: string): string;
}

/** The answer of every list. */
export interface Page<T> {
  data: T[];
  page: { limit: number; next_cursor: string | null };
}

/** The same page of what each row becomes. */
export function mapPage<T, U>({ data, page }: Page<T>, map: (row: T) => U): Page<U> {
  return { data: data.map((row) => map(row)), page };
}
