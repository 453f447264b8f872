import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { ListPage, OpenForm, Rows } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { Time } from '../ui/time.tsx';
import { AreaList } from './area-list.tsx';
import type { OAuthClient } from './client.ts';

const clientsRoute = getRouteApi('/o/$organization/organization/clients');
const ClientPanel = lazyPart(async () => (await import('./client-panel.tsx')).ClientPanel);
const NewClientDialog = lazyPart(async () => (await import('./new-client.tsx')).NewClientDialog);

const TYPES = ['confidential', 'public'] as const;

/** Applications that sign people in, or act for themselves. */
export function ClientsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { open } = clientsRoute.useSearch();
  const [secret, setSecret] = useState<string | null>();
  if (!may('identity.oauth_clients.read')) return <Forbidden permission="identity.oauth_clients.read" />;
  const add = may('identity.oauth_clients.create') && t('newClient');
  return (
    <ListPage
      frame={Section}
      title={t('parts.clients')}
      lead={t('clientsLead')}
      open={open}
      add={add}
      form={(props) => <NewClientDialog {...props} onSecret={setSecret} />}
      panel={(id, onClose) => <ClientPanel key={id} id={id} onClose={onClose} onSecret={setSecret} />}
    >
      <Clients add={add} />
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
    </ListPage>
  );
}

function Clients({ add }: { add: string | false }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const address = clientsRoute.useSearch();
  return (
    <AreaList<OAuthClient, (typeof TYPES)[number]>
      part="clients"
      address={address}
      sorts={['name', 'created_at']}
      sort="name"
      filter={{
        by: 'kind',
        label: t('type'),
        options: TYPES.map((value) => ({ value, label: t(`clientTypes.${value}`) })),
      }}
      load={async ({ q: _, value, ...asked }, signal) => {
        const query = { ...asked, type: value };
        return (await api.GET('/v1/identity/oauth-clients', { params: { query }, signal })).data;
      }}
      columns={useColumns()}
      table={(table) => (
        <Rows
          {...table}
          open={address.open}
          filtered={false}
          empty={<Empty title={t('noClients')}>{add !== false && <OpenForm label={add} />}</Empty>}
        />
      )}
    />
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
