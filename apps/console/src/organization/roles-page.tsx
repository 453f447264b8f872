import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { ListPage } from '../ui/list-page.tsx';
import { Section } from '../ui/page.tsx';
import { AreaList } from './area-list.tsx';
import type { Role } from './people.ts';

const rolesRoute = getRouteApi('/o/$organization/organization/roles');
const KINDS = ['human', 'machine'] as const;

/** What is given to people and to machines, as bundles of permissions. */
export function RolesPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const navigate = useNavigate();
  const api = useApi();
  const columns = useColumns();
  const address = rolesRoute.useSearch();
  if (!may('identity.roles.read')) return <Forbidden permission="identity.roles.read" />;
  const to = '/o/$organization/organization/roles/$role';
  const params = (role: string) => ({ organization: organization.slug, role });
  return (
    <ListPage
      frame={Section}
      title={t('parts.roles')}
      lead={t('rolesLead')}
      open={undefined}
      add={false}
      actions={
        may('identity.roles.create') && (
          <ButtonLink look="main" to={to} params={params('new')}>
            <Plus aria-hidden className="size-4" />
            {t('newRole')}
          </ButtonLink>
        )
      }
    >
      <AreaList<Role, (typeof KINDS)[number]>
        part="roles"
        address={address}
        sorts={['name', 'created_at']}
        sort="name"
        filter={{
          by: 'kind',
          label: t('kind'),
          options: KINDS.map((value) => ({ value, label: t(`kinds.${value}`) })),
        }}
        load={async ({ q: _, value, ...asked }, signal) => {
          const query = { ...asked, kind: value };
          return (await api.GET('/v1/identity/roles', { params: { query }, signal })).data;
        }}
        columns={columns}
        table={(table) => (
          <DataTable
            {...table}
            keyOf={({ id }) => id}
            addressOf={({ id }) => `/o/${organization.slug}/organization/roles/${id}`}
            onOpen={({ id }) => void navigate({ to, params: params(id) })}
            empty={<Empty title={t('none')} />}
          />
        )}
      />
    </ListPage>
  );
}

function useColumns(): Column<Role>[] {
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
    { id: 'kind', header: t('kind'), cell: ({ kind }) => t(`kinds.${kind}`) },
    {
      id: 'builtIn',
      header: t('madeBy'),
      cell: ({ built_in: builtIn }) => (builtIn ? <Badge>{t('builtIn')}</Badge> : t('madeHere')),
    },
    {
      id: 'permissions',
      header: t('permissions'),
      end: true,
      cell: ({ permissions }) => permissions.length,
    },
    { id: 'description', header: t('description'), cell: ({ description }) => description },
  ];
}
