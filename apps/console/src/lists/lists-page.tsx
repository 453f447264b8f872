import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, SearchField } from '../ui/filters.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { LIST_SORTS, type ListsSearch } from './search-params.ts';
import type { ContactList } from './use-lists.ts';

const listsRoute = getRouteApi('/o/$organization/contacts/lists');
const NewList = lazyPart(async () => (await import('./new-list.tsx')).NewList);
const ListPanel = lazyPart(async () => (await import('./list-panel.tsx')).ListPanel);

/** The lists of contacts that were chosen by hand. */
export function ListsPage(): ReactNode {
  const t = useTranslations('lists');
  const may = useMay();
  const { open } = listsRoute.useSearch();
  if (!may('crm.lists.read')) return <Forbidden permission="crm.lists.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('crm.lists.create') && t('new')}
      form={(props) => <NewList {...props} />}
      panel={(id, onClose) => <ListPanel key={id} id={id} onClose={onClose} />}
    >
      <ListFilters />
      <Lists />
    </ListPage>
  );
}

function ListFilters(): ReactNode {
  const t = useTranslations('lists');
  const { name } = listsRoute.useSearch();
  const change = useChangeOf<ListsSearch>();
  return (
    <Filters>
      <SearchField
        main
        label={t('byName')}
        value={name ?? ''}
        onChange={(typed) => change({ name: typed || undefined }, true)}
      />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Lists(): ReactNode {
  const t = useTranslations('lists');
  const api = useApi();
  const change = useChangeOf<ListsSearch>();
  const { open, name, deleted, sort } = listsRoute.useSearch();
  const list = useList<ContactList>(['lists', 'list', name, deleted, sort], async (cursor, signal) => {
    const query = { 'name[prefix]': name, include_deleted: deleted, sort, cursor };
    return (await api.GET('/v1/crm/lists', { params: { query }, signal })).data;
  });
  return (
    <Rows
      label={t('title')}
      list={list}
      columns={useColumns()}
      open={open}
      sort={sort ?? '-created_at'}
      onSort={(next) => change({ sort: LIST_SORTS.find((each) => each === next) }, true)}
      filtered={name !== undefined}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<ContactList>[] {
  const t = useTranslations('lists');
  const { number } = useFormatter();
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name, deleted_at: deletedAt }) => (
        <>
          <bdi className="font-medium" title={name}>
            {name}
          </bdi>
          {deletedAt !== null && (
            <>
              {' '}
              <Badge tone="bad">{t('deleted')}</Badge>
            </>
          )}
        </>
      ),
    },
    { id: 'members', header: t('members'), end: true, cell: ({ member_count: count }) => number(count) },
    {
      id: 'description',
      header: t('description'),
      cell: ({ description }) => <div className="max-w-64 truncate">{description}</div>,
    },
    {
      id: 'made',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}
