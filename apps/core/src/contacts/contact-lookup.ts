import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { FilterValue, ListQuery } from '@customer-platform/http';

const SURVIVORS = `
  SELECT id, merged_into FROM contacts
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND merged_into IS NOT NULL`;

/** Reads a merged contact's id as its survivor's. */
@Injectable()
export class ContactLookup {
  /** The list request with the values of `contact_id` filters replaced by their survivors (core.md, "Marks"). */
  async resolveFilters(tx: Transaction, organizationId: string, query: ListQuery): Promise<ListQuery> {
    const named = query.filters.filter(({ field, op }) => field === 'contact_id' && op !== 'is_null');
    if (named.length === 0) return query;
    const ids = named.flatMap(({ values }) => values);
    const rows = await tx.query<{ id: string; merged_into: string }>(SURVIVORS, [organizationId, ids]);
    if (rows.length === 0) return query;
    const survivors = new Map<FilterValue, FilterValue>(rows.map(({ id, merged_into }) => [id, merged_into]));
    const filters = query.filters.map((filter) => {
      if (!named.includes(filter)) return filter;
      const values = filter.values.map((value) => survivors.get(value) ?? value);
      return { ...filter, values, value: values[0] ?? filter.value };
    });
    return { ...query, filters };
  }
}
