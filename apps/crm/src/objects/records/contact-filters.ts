import type { ResolvedContact } from '@customer-platform/contact-refs';
import type { ListFilter, ListQuery } from '@customer-platform/http';
import { refersToContact } from '../../fields/object-fields.js';
import type { KnownDefinition } from '../definitions/known-definition.js';
import { keyOf } from './object-records.list.js';

/**
 * The contacts that filters name, and the query with their survivors in the place of merged ones (crm.md §1), and beside
 * them those whose records have not all been given to the survivor yet.
 */
export function contactFilters(
  { fields }: KnownDefinition,
  query: ListQuery,
): {
  readonly ids: readonly string[];
  readonly replace: (
    contacts: ReadonlyMap<string, ResolvedContact>,
    unsettled: ReadonlyMap<string, readonly string[]>,
  ) => ListQuery;
} {
  const keys = new Set(fields.filter(refersToContact).map(({ key }) => key));
  const names = ({ field, op }: ListFilter): boolean => op !== 'is_null' && keys.has(keyOf(field) ?? '');
  const ids = [...new Set(query.filters.filter(names).flatMap(({ values }) => values.map(String)))];
  return {
    ids,
    replace: (contacts, unsettled) => ({
      ...query,
      filters: query.filters.map((filter) => {
        if (!names(filter)) return filter;
        const survivors = filter.values.map((id) => survivorOf(contacts, String(id)));
        const values = [...new Set(survivors.flatMap((id) => [id, ...(unsettled.get(id) ?? [])]))];
        const op = filter.op === 'eq' && values.length > 1 ? 'in' : filter.op;
        return { ...filter, op, values, value: values[0] ?? filter.value };
      }),
    }),
  };
}

function survivorOf(contacts: ReadonlyMap<string, ResolvedContact>, id: string): string {
  const contact = contacts.get(id);
  return contact?.kind === 'merged' ? contact.id : id;
}
