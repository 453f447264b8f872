import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { DeletedFilter } from '../ui/list-page.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { useRoles, withStanding, type Member, type User } from './people.ts';
import type { AreaSearch } from './search-params.ts';
import { USER_TONES } from './tones.ts';
import { useSearch } from './use-search.ts';

const peopleRoute = getRouteApi('/o/$organization/organization/people');
const PersonPanel = lazyPart(async () => (await import('./person-panel.tsx')).PersonPanel);

const STATUSES = ['invited', 'active', 'suspended'] as const;

/** Who is in the organization, and what each may do. */
export function PeoplePage(): ReactNode {
  const t = useTranslations('organization');
  const addressBeside = useAddressBeside();
  const may = useMay();
  const { organization } = usePerson();
  const navigate = useNavigate();
  const [search, set] = useSearch(peopleRoute.useSearch(), ['name', 'email', 'created_at']);
  const list = useMembers(search);
  const columns = useColumns();
  if (!may('identity.users.read')) return <Forbidden permission="identity.users.read" />;
  const params = { organization: organization.slug };
  return (
    <Section
      title={t('parts.people')}
      lead={t('peopleLead')}
      actions={
        may('identity.invitations.create') && (
          <ButtonLink
            look="main"
            to="/o/$organization/organization/invitations"
            params={params}
            search={{ create: true }}
          >
            <UserPlus aria-hidden className="size-4" />
            {t('invite')}
          </ButtonLink>
        )
      }
    >
      <Filters>
        <SearchField main label={t('searchPeople')} value={search.q ?? ''} onChange={(q) => set({ q })} />
        <FilterSelect
          label={t('status')}
          value={search.status}
          onChange={(status) => set({ status })}
          options={STATUSES.map((value) => ({ value, label: t(`userStatus.${value}`) }))}
        />
        <DeletedFilter label={t('withDeleted')} />
      </Filters>
      <DataTable
        label={t('parts.people')}
        list={list}
        columns={columns}
        keyOf={({ user }) => user.id}
        sort={search.sort ?? 'name'}
        onSort={(sort) => set({ sort })}
        chosen={search.open}
        onOpen={({ user }) => set({ open: user.id })}
        addressOf={({ user }) => addressBeside(user.id)}
        empty={<Empty title={t('nobody')} />}
      />
      {search.open !== undefined && (
        <PersonPanel
          key={search.open}
          id={search.open}
          onClose={() => set({ open: undefined })}
          onSessions={(userId) =>
            void navigate({ to: '/o/$organization/organization/sessions', params, search: { q: userId } })
          }
        />
      )}
    </Section>
  );
}

function useMembers({ q, status, sort = 'name', deleted }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  const readable = may('identity.users.read');
  return useList<Member>(
    ['organization', 'people', q, status, sort, deleted],
    async (cursor, signal) => {
      const sought = q === undefined ? {} : q.includes('@') ? { email: q } : { 'name[prefix]': q };
      const query = {
        ...sought,
        ...(STATUSES.some((each) => each === status) && { status: status as User['status'] }),
        ...(deleted && { include_deleted: true }),
        sort,
        limit: 50,
        cursor,
      };
      const { data } = await api.GET('/v1/identity/users', { params: { query }, signal });
      return { ...data, data: await withStanding(api, may, data.data, signal) };
    },
    { enabled: readable },
  );
}

function useColumns(): Column<Member>[] {
  const t = useTranslations('organization');
  const roles = useRoles();
  const { id: own } = usePerson();
  return [
    {
      id: 'name',
      header: t('name'),
      sort: 'name',
      cell: ({ user }) => (
        <span className="font-medium">
          {user.name} {user.id === own && <Badge tone="accent">{t('you')}</Badge>}
        </span>
      ),
    },
    { id: 'email', header: t('email'), sort: 'email', cell: ({ user }) => user.email },
    {
      id: 'roles',
      header: t('parts.roles'),
      cell: (member) => <RolesOf member={member} roles={roles} />,
    },
    {
      id: 'status',
      header: t('status'),
      cell: ({ user: { status, deleted_at: deleted } }) =>
        deleted === null ? (
          <Badge tone={USER_TONES[status] ?? 'neutral'}>{t(`userStatus.${status}`)}</Badge>
        ) : (
          <Badge>{t('deleted')}</Badge>
        ),
    },
    {
      id: 'mfa',
      header: t('factor'),
      cell: ({ user }) => (user.mfa_enabled ? <Badge tone="good">{t('yes')}</Badge> : t('no')),
    },
    {
      id: 'seen',
      header: t('lastSignIn'),
      cell: ({ user: { last_sign_in_at: at } }) => (at === null ? t('never') : <Time at={at} relative />),
    },
  ];
}

function RolesOf({
  member: { assignments, membershipId },
  roles,
}: {
  member: Member;
  roles: ReturnType<typeof useRoles>;
}): ReactNode {
  const t = useTranslations('organization');
  if (assignments === undefined) return <span className="text-soft">{t('notReadable')}</span>;
  if (membershipId === undefined) return <span className="text-soft">{t('noMember')}</span>;
  if (assignments.length === 0) return <span className="text-soft">{t('noRoles')}</span>;
  return assignments.map(({ roleId }) => roles.find(({ id }) => id === roleId)?.name ?? roleId).join(', ');
}
