import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { DeletedFilter } from '../ui/list-page.tsx';
import { useList, type List, type ListPage } from '../ui/list.ts';
import type { PARTS } from './parts.ts';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

/** What the address asks of a list. */
interface Asked<Value> {
  q: string | undefined;
  /** One of the filter's. */
  value: Value | undefined;
  include_deleted: true | undefined;
  sort: string;
  cursor: string | undefined;
}

/** What a table of the list is given. */
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
  /** As it is sorted where the address says nothing. */
  sort: string;
  /** What the field for a text is called, where there is one. */
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
