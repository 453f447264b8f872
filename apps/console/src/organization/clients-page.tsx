import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
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
import { SecretOnce } from '../ui/secret-once.tsx';
import { Time } from '../ui/time.tsx';
import type { OAuthClient } from './client.ts';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

const clientsRoute = getRouteApi('/o/$organization/organization/clients');
const ClientPanel = lazyPart(async () => (await import('./client-panel.tsx')).ClientPanel);
const NewClientDialog = lazyPart(async () => (await import('./new-client.tsx')).NewClientDialog);

const TYPES = ['confidential', 'public'] as const;

/** Applications that sign people in, or act for themselves. */
export function ClientsPage(): ReactNode {
  const t = useTranslations('organization');
  const addressBeside = useAddressBeside();
  const may = useMay();
  const [search, set] = useSearch(clientsRoute.useSearch(), ['name', 'created_at']);
  const [secret, setSecret] = useState<string | null>();
  const list = useClients(search);
  const columns = useColumns();
  if (!may('identity.oauth_clients.read')) return <Forbidden permission="identity.oauth_clients.read" />;
  const mayCreate = may('identity.oauth_clients.create');
  const add = mayCreate && <AddButton label={t('newClient')} onClick={() => set({ create: true })} />;
  return (
    <Section title={t('parts.clients')} lead={t('clientsLead')} actions={add}>
      <Filters>
        <FilterSelect
          label={t('type')}
          value={search.kind}
          onChange={(kind) => set({ kind })}
          options={TYPES.map((value) => ({ value, label: t(`clientTypes.${value}`) }))}
        />
        <DeletedFilter label={t('withDeleted')} />
      </Filters>
      <DataTable
        label={t('parts.clients')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? 'name'}
        onSort={(sort) => set({ sort })}
        chosen={search.open}
        onOpen={({ id }) => set({ open: id })}
        addressOf={({ id }) => addressBeside(id)}
        empty={<Empty title={t('noClients')}>{add}</Empty>}
      />
      {search.open !== undefined && (
        <ClientPanel
          key={search.open}
          id={search.open}
          onClose={() => set({ open: undefined })}
          onSecret={setSecret}
        />
      )}
      {mayCreate && (
        <NewClientDialog
          open={search.create === true}
          onClose={() => set({ create: undefined })}
          onMade={({ id, client_secret: made, type }) => {
            // Whatever opens last lies on top: its panel waits until the secret is kept.
            set({ create: undefined, open: type === 'confidential' ? undefined : id });
            if (type === 'confidential') setSecret(made ?? null);
          }}
        />
      )}
      {secret !== undefined && (
        <SecretOnce
          title={t('clientSecret')}
          secret={secret}
          lost={t('secretLost')}
          onClose={() => setSecret(undefined)}
        >
          {t('secretUse')}
        </SecretOnce>
      )}
    </Section>
  );
}

function useClients({ kind, sort = 'name', deleted }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  return useList<OAuthClient>(
    ['organization', 'clients', kind, sort, deleted],
    async (cursor, signal) => {
      const query = {
        ...(TYPES.some((each) => each === kind) && { type: kind as OAuthClient['type'] }),
        ...(deleted && { include_deleted: true }),
        sort,
        cursor,
      };
      return (await api.GET('/v1/identity/oauth-clients', { params: { query }, signal })).data;
    },
    { enabled: may('identity.oauth_clients.read') },
  );
}

function useColumns(): Column<OAuthClient>[] {
  const t = useTranslations('organization');
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ name, deleted_at: deleted }) => (
        <span className="font-medium">
          {name} {deleted !== null && <Badge>{t('deleted')}</Badge>}
        </span>
      ),
    },
    { id: 'type', header: t('type'), cell: ({ type }) => t(`clientTypes.${type}`) },
    { id: 'grants', header: t('grants'), cell: ({ grant_types: grants }) => grants.join(', ') },
    {
      id: 'id',
      header: t('clientId'),
      cell: ({ id }) => <code className="font-mono text-xs">{id}</code>,
    },
    { id: 'made', header: t('made'), sort: 'created_at', cell: ({ created_at: at }) => <Time at={at} /> },
  ];
}
