import { getRouteApi } from '@tanstack/react-router';
import type { ItemOf } from '@customer-platform/client';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { ListPage, OpenForm, Rows } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { Time } from '../ui/time.tsx';
import { AreaList } from './area-list.tsx';

const childrenRoute = getRouteApi('/o/$organization/organization/children');
const ChildPanel = lazyPart(async () => (await import('./child-panel.tsx')).ChildPanel);
const NewChild = lazyPart(async () => (await import('./new-child.tsx')).NewChild);

type Child = ItemOf<'/v1/identity/organizations'>;
const STATUSES = ['active', 'suspended'] as const;

/** The organizations below this one. */
export function ChildrenPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { open } = childrenRoute.useSearch();
  const [key, setKey] = useState<string | null>();
  if (!may('identity.organizations.read')) return <Forbidden permission="identity.organizations.read" />;
  const add = may('identity.organizations.create') && t('newChild');
  return (
    <ListPage
      frame={Section}
      title={t('parts.children')}
      lead={t('childrenLead')}
      open={open}
      add={add}
      form={({ onClose }) => <NewChild onClose={onClose} onKey={setKey} />}
      panel={(id, onClose) => <ChildPanel key={id} id={id} onClose={onClose} />}
    >
      <Children add={add} />
      {key !== undefined && (
        <SecretOnce title={t('firstKey')} secret={key} lost={t('keyLost')} onClose={() => setKey(undefined)}>
          {t('secretUse')}
        </SecretOnce>
      )}
    </ListPage>
  );
}

function Children({ add }: { add: string | false }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const { organization } = usePerson();
  const address = childrenRoute.useSearch();
  return (
    <AreaList<Child, (typeof STATUSES)[number]>
      part="children"
      address={address}
      sorts={['name', 'created_at']}
      sort="name"
      searched={t('searchName')}
      filter={{
        by: 'status',
        label: t('status'),
        options: STATUSES.map((value) => ({ value, label: t(`organizationStatus.${value}`) })),
      }}
      load={async ({ q, value, ...asked }, signal) => {
        const query = { ...asked, parent_id: organization.id, 'name[prefix]': q, status: value };
        return (await api.GET('/v1/identity/organizations', { params: { query }, signal })).data;
      }}
      columns={useColumns()}
      table={(table) => (
        <Rows
          {...table}
          open={address.open}
          filtered={false}
          empty={<Empty title={t('noChildren')}>{add !== false && <OpenForm label={add} />}</Empty>}
        />
      )}
    />
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
