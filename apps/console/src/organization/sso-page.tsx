import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { AddButton, DeletedFilter } from '../ui/list-page.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import type { Connection } from './connection.ts';
import type { AreaSearch } from './search-params.ts';
import { CONNECTION_TONES } from './tones.ts';
import { useSearch } from './use-search.ts';

const ssoRoute = getRouteApi('/o/$organization/organization/sso');
const ConnectionPanel = lazyPart(async () => (await import('./connection-panel.tsx')).ConnectionPanel);
const NewConnectionDialog = lazyPart(async () => (await import('./new-connection.tsx')).NewConnectionDialog);

const STATUSES = ['draft', 'active', 'inactive'] as const;

/** Providers by which people of a domain sign in. */
export function SsoPage(): ReactNode {
  const t = useTranslations('organization');
  const addressBeside = useAddressBeside();
  const may = useMay();
  const [search, set] = useSearch(ssoRoute.useSearch(), ['name', 'created_at']);
  const list = useConnections(search);
  const columns = useColumns();
  if (!may('identity.sso.read')) return <Forbidden permission="identity.sso.read" />;
  const mayCreate = may('identity.sso.create');
  const add = mayCreate && <AddButton label={t('newConnection')} onClick={() => set({ create: true })} />;
  return (
    <Section title={t('parts.sso')} lead={t('ssoLead')} actions={add}>
      <Filters>
        <FilterSelect
          label={t('status')}
          value={search.status}
          onChange={(status) => set({ status })}
          options={STATUSES.map((value) => ({ value, label: t(`connectionStatus.${value}`) }))}
        />
        <DeletedFilter label={t('withDeleted')} />
      </Filters>
      <DataTable
        label={t('parts.sso')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? 'name'}
        onSort={(sort) => set({ sort })}
        chosen={search.open}
        onOpen={({ id }) => set({ open: id })}
        addressOf={({ id }) => addressBeside(id)}
        empty={<Empty title={t('noConnections')}>{add}</Empty>}
      />
      {search.open !== undefined && (
        <ConnectionPanel key={search.open} id={search.open} onClose={() => set({ open: undefined })} />
      )}
      {mayCreate && (
        <NewConnectionDialog
          open={search.create === true}
          onClose={() => set({ create: undefined })}
          onMade={(id) => set({ create: undefined, open: id })}
        />
      )}
    </Section>
  );
}

function useConnections({ status, sort = 'name', deleted }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  return useList<Connection>(
    ['organization', 'connections', status, sort, deleted],
    async (cursor, signal) => {
      const query = {
        ...(STATUSES.some((each) => each === status) && { status: status as Connection['status'] }),
        ...(deleted && { include_deleted: true }),
        sort,
        cursor,
      };
      return (await api.GET('/v1/identity/sso-connections', { params: { query }, signal })).data;
    },
    { enabled: may('identity.sso.read') },
  );
}

function useColumns(): Column<Connection>[] {
  const t = useTranslations('organization');
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name }) => <span className="font-medium">{name}</span>,
    },
    {
      id: 'status',
      header: t('status'),
      cell: ({ status, deleted_at: deleted }) =>
        deleted === null ? (
          <Badge tone={CONNECTION_TONES[status] ?? 'neutral'}>{t(`connectionStatus.${status}`)}</Badge>
        ) : (
          <Badge>{t('deleted')}</Badge>
        ),
    },
    { id: 'domains', header: t('domains'), cell: ({ domains }) => domains.join(', ') },
    { id: 'issuer', header: t('issuer'), cell: ({ issuer }) => issuer },
    {
      id: 'enforced',
      header: t('enforcedShort'),
      cell: ({ enforced }) => (enforced ? t('yes') : t('no')),
    },
  ];
}
