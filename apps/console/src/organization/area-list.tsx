import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { DeletedFilter } from '../ui/list-page.tsx';
import { useList, type List, type ListPage } from '../ui/list.ts';
import type { PARTS } from './parts.ts';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

/** The search parameters of a list. */
interface Asked<Value> {
  q: string | undefined;
  /** One of the filter's. */
  value: Value | undefined;
  include_deleted: true | undefined;
  sort: string;
  cursor: string | undefined;
}

/** Properties of a table of the list. */
interface TableOf<Item> {
  label: string;
  list: List<Item>;
  columns: readonly Column<Item>[];
  sort: string;
  onSort: (sort: string) => void;
}

interface AreaListProps<Item, Value extends string> {
  part: (typeof PARTS)[number]['name'];
  address: AreaSearch;
  /** The fields that it is sorted by. */
  sorts: readonly string[];
  /** The sort where the address says none. */
  sort: string;
  /** The label of the field for a text, where there is one. */
  searched?: string;
  filter: {
    by: 'status' | 'kind';
    label: string;
    options: readonly { value: Value; label: string }[];
  };
  withDeleted?: boolean;
  load: (asked: Asked<Value>, signal: AbortSignal) => Promise<ListPage<Item>>;
  columns: readonly Column<Item>[];
  table: (table: TableOf<Item>) => ReactNode;
}

/** The list of a part of the organization, below what filters it. */
export function AreaList<Item, Value extends string>(props: AreaListProps<Item, Value>): ReactNode {
  const { part, searched, filter, withDeleted = true, load, columns, table } = props;
  const t = useTranslations('organization');
  const [search, set] = useSearch(props.address, props.sorts);
  const { q, deleted, sort = props.sort } = search;
  const value = filter.options.map((each) => each.value).find((each) => each === search[filter.by]);
  const list = useList<Item>(['organization', part, q, value, sort, deleted], (cursor, signal) =>
    load({ q, value, include_deleted: deleted, sort, cursor }, signal),
  );
  return (
    <>
      <Filters>
        {searched !== undefined && (
          <SearchField main label={searched} value={q ?? ''} onChange={(typed) => set({ q: typed })} />
        )}
        <FilterSelect
          label={filter.label}
          value={search[filter.by]}
          onChange={(chosen) => set({ [filter.by]: chosen })}
          options={filter.options}
        />
        {withDeleted && <DeletedFilter label={t('withDeleted')} />}
      </Filters>
      {table({ label: t(`parts.${part}`), list, columns, sort, onSort: (next) => set({ sort: next }) })}
    </>
  );
}
