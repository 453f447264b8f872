import { getRouteApi } from '@tanstack/react-router';
import type { ItemOf } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { AddButton, DeletedFilter } from '../ui/list-page.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

const childrenRoute = getRouteApi('/o/$organization/organization/children');
const ChildPanel = lazyPart(async () => (await import('./child-panel.tsx')).ChildPanel);
const NewChild = lazyPart(async () => (await import('./new-child.tsx')).NewChild);

type Child = ItemOf<'/v1/identity/organizations'>;
const STATUSES = ['active', 'suspended'] as const;

/** The organizations below this one. */
export function ChildrenPage(): ReactNode {
  const t = useTranslations('organization');
  const addressBeside = useAddressBeside();
  const may = useMay();
  const [search, set] = useSearch(childrenRoute.useSearch(), ['name', 'created_at']);
  const list = useChildren(search);
  const columns = useColumns();
  if (!may('identity.organizations.read')) return <Forbidden permission="identity.organizations.read" />;
  const mayCreate = may('identity.organizations.create');
  const add = mayCreate && <AddButton label={t('newChild')} onClick={() => set({ create: true })} />;
  return (
    <Section title={t('parts.children')} lead={t('childrenLead')} actions={add}>
      <Filters>
        <SearchField main label={t('searchName')} value={search.q ?? ''} onChange={(q) => set({ q })} />
        <FilterSelect
          label={t('status')}
          value={search.status}
          onChange={(status) => set({ status })}
          options={STATUSES.map((value) => ({ value, label: t(`organizationStatus.${value}`) }))}
        />
        <DeletedFilter label={t('withDeleted')} />
      </Filters>
      <DataTable
        label={t('parts.children')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? 'name'}
        onSort={(sort) => set({ sort })}
        chosen={search.open}
        onOpen={({ id }) => set({ open: id })}
        addressOf={({ id }) => addressBeside(id)}
        empty={<Empty title={t('noChildren')}>{add}</Empty>}
      />
      {search.open !== undefined && (
        <ChildPanel key={search.open} id={search.open} onClose={() => set({ open: undefined })} />
      )}
      {mayCreate && <NewChild open={search.create === true} onClose={() => set({ create: undefined })} />}
    </Section>
  );
}

function useChildren({ q, status, sort = 'name', deleted }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  return useList<Child>(
    ['organization', 'children', q, status, sort, deleted],
    async (cursor, signal) => {
      const query = {
        parent_id: organization.id,
        ...(q !== undefined && { 'name[prefix]': q }),
        ...(STATUSES.some((each) => each === status) && { status: status as Child['status'] }),
        ...(deleted && { include_deleted: true }),
        sort,
        cursor,
      };
      return (await api.GET('/v1/identity/organizations', { params: { query }, signal })).data;
    },
    { enabled: may('identity.organizations.read') },
  );
}

function useColumns(): Column<Child>[] {
  const t = useTranslations('organization');
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name }) => <span className="font-medium">{name}</span>,
    },
    { id: 'slug', header: t('slug'), cell: ({ slug }) => <code className="font-mono text-xs">{slug}</code> },
    {
      id: 'status',
      header: t('status'),
      cell: ({ status, deleted_at: deleted }) =>
        deleted === null ? (
          <Badge tone={status === 'active' ? 'good' : 'warn'}>{t(`organizationStatus.${status}`)}</Badge>
        ) : (
          <Badge>{t('deleted')}</Badge>
        ),
    },
    { id: 'made', header: t('made'), sort: 'created_at', cell: ({ created_at: at }) => <Time at={at} /> },
  ];
}
