import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { ListPage, OpenForm, Rows } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { AreaList } from './area-list.tsx';
import type { Connection } from './connection.ts';
import { CONNECTION_TONES } from './tones.ts';

const ssoRoute = getRouteApi('/o/$organization/organization/sso');
const ConnectionPanel = lazyPart(async () => (await import('./connection-panel.tsx')).ConnectionPanel);
const NewConnectionDialog = lazyPart(async () => (await import('./new-connection.tsx')).NewConnectionDialog);

const STATUSES = ['draft', 'active', 'inactive'] as const;

/** Providers by which people of a domain sign in. */
export function SsoPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { open } = ssoRoute.useSearch();
  if (!may('identity.sso.read')) return <Forbidden permission="identity.sso.read" />;
  const add = may('identity.sso.create') && t('newConnection');
  return (
    <ListPage
      frame={Section}
      title={t('parts.sso')}
      lead={t('ssoLead')}
      open={open}
      add={add}
      form={(props) => <NewConnectionDialog {...props} />}
      panel={(id, onClose) => <ConnectionPanel key={id} id={id} onClose={onClose} />}
    >
      <Connections add={add} />
    </ListPage>
  );
}

function Connections({ add }: { add: string | false }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const address = ssoRoute.useSearch();
  return (
    <AreaList<Connection, (typeof STATUSES)[number]>
      part="sso"
      address={address}
      sorts={['name', 'created_at']}
      sort="name"
      filter={{
        by: 'status',
        label: t('status'),
        options: STATUSES.map((value) => ({ value, label: t(`connectionStatus.${value}`) })),
      }}
      load={async ({ q: _, value, ...asked }, signal) => {
        const query = { ...asked, status: value };
        return (await api.GET('/v1/identity/sso-connections', { params: { query }, signal })).data;
      }}
      columns={useColumns()}
      table={(table) => (
        <Rows
          {...table}
          open={address.open}
          filtered={false}
          empty={<Empty title={t('noConnections')}>{add !== false && <OpenForm label={add} />}</Empty>}
        />
      )}
    />
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
