import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { DeletedFilter } from '../ui/list-page.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import type { Role } from './people.ts';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

const rolesRoute = getRouteApi('/o/$organization/organization/roles');
const KINDS = ['human', 'machine'] as const;

/** What is given to people and to machines, as bundles of permissions. */
export function RolesPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const navigate = useNavigate();
  const [search, set] = useSearch(rolesRoute.useSearch(), ['name', 'created_at']);
  const list = useRoleList(search);
  const columns = useColumns();
  if (!may('identity.roles.read')) return <Forbidden permission="identity.roles.read" />;
  const to = '/o/$organization/organization/roles/$role';
  const params = (role: string) => ({ organization: organization.slug, role });
  return (
    <Section
      title={t('parts.roles')}
      lead={t('rolesLead')}
      actions={
        may('identity.roles.create') && (
          <ButtonLink look="main" to={to} params={params('new')}>
            <Plus aria-hidden className="size-4" />
            {t('newRole')}
          </ButtonLink>
        )
      }
    >
      <Filters>
        <FilterSelect
          label={t('kind')}
          value={search.kind}
          onChange={(kind) => set({ kind })}
          options={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        />
        <DeletedFilter label={t('withDeleted')} />
      </Filters>
      <DataTable
        label={t('parts.roles')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? 'name'}
        onSort={(sort) => set({ sort })}
        addressOf={({ id }) => `/o/${organization.slug}/organization/roles/${id}`}
        onOpen={({ id }) => void navigate({ to, params: params(id) })}
        empty={<Empty title={t('none')} />}
      />
    </Section>
  );
}

function useRoleList({ kind, sort = 'name', deleted }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  return useList<Role>(
    ['organization', 'roles', kind, sort, deleted],
    async (cursor, signal) => {
      const query = {
        ...(KINDS.some((each) => each === kind) && { kind: kind as Role['kind'] }),
        ...(deleted && { include_deleted: true }),
        sort,
        cursor,
      };
      return (await api.GET('/v1/identity/roles', { params: { query }, signal })).data;
    },
    { enabled: may('identity.roles.read') },
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
