import type { FilterValue, ListFilter } from '@customer-platform/http';
import { identityForms } from './identity-value.js';

/** A filter by an identity's value as it finds every form of what is compared as a whole; of a beginning, that of now. */
export function inEveryForm(filter: ListFilter, type: string): ListFilter {
  const formsOf = (value: FilterValue): string[] => identityForms(type, String(value), null);
  if (filter.op === 'is_null') return filter;
  if (filter.op !== 'eq' && filter.op !== 'in')
    return withValues(filter, (value) => formsOf(value)[0] ?? value);
  const values = filter.values.flatMap((value) => (formsOf(value).length > 0 ? formsOf(value) : [value]));
  return values.length === 1
    ? { ...filter, values, value: values[0] ?? filter.value }
    : { ...filter, op: 'in', values };
}

/** The filters of a list that shows external ids: an event from before may stand under another writing than its contact. */
export function externalIdsInEveryForm(filters: readonly ListFilter[]): ListFilter[] {
  return filters.map((filter) =>
    filter.field === 'external_id' ? inEveryForm(filter, 'external_id') : filter,
  );
}

/** A filter whose values are read in another form. */
export function withValues(filter: ListFilter, read: (value: string) => string): ListFilter {
  const values: FilterValue[] = filter.values.map((value) => read(String(value)));
  return { ...filter, values, value: values[0] ?? filter.value };
}
