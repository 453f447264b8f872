import type { ListDefinition, ListQuery, Page } from '@customer-platform/http';
import type { Taxonomy } from './taxonomy.js';

/** What `GET /v1/core/taxonomies` takes. */
export const TAXONOMY_LIST: ListDefinition = {
  resource: 'core.taxonomies',
  filters: {},
  sorts: { slug: { type: 'string', column: 'slug' } },
  defaultSort: 'slug',
  tieBreaker: { field: 'slug', type: 'string', column: 'slug' },
};

/** One page of taxonomies, which are given by slug. */
export function pageOfTaxonomies(taxonomies: readonly Taxonomy[], query: ListQuery): Page<Taxonomy> {
  const descending = query.sort[0]?.direction === 'desc';
  const after = query.after?.[0] ?? undefined;
  const ordered = descending ? taxonomies.toReversed() : taxonomies;
  const rest = ordered.filter(
    ({ slug }) => after === undefined || (descending ? slug < after : slug > after),
  );
  const data = rest.slice(0, query.limit);
  const last = rest.length > query.limit ? data.at(-1) : undefined;
  return { data, page: { limit: query.limit, next_cursor: last ? query.cursorFor([last.slug]) : null } };
}
