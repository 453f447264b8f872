import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { ListPage, Rows } from '../ui/list-page.tsx';
import { ButtonLink } from '../ui/button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { AreaList } from './area-list.tsx';
import { useRoles, withStanding, type Member } from './people.ts';
import { USER_TONES } from './tones.ts';

const peopleRoute = getRouteApi('/o/$organization/organization/people');
const PersonPanel = lazyPart(async () => (await import('./person-panel.tsx')).PersonPanel);

const STATUSES = ['invited', 'active', 'suspended'] as const;

/** Who is in the organization, and what each may do. */
export function PeoplePage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const navigate = useNavigate();
  const { open } = peopleRoute.useSearch();
  if (!may('identity.users.read')) return <Forbidden permission="identity.users.read" />;
  const params = { organization: organization.slug };
  const toSessions = (userId: string): void =>
    void navigate({ to: '/o/$organization/organization/sessions', params, search: { q: userId } });
  return (
    <ListPage
      frame={Section}
      title={t('parts.people')}
      lead={t('peopleLead')}
      open={open}
      add={false}
      actions={
        may('identity.invitations.create') && (
          <ButtonLink
            look="main"
            to="/o/$organization/organization/invitations"
            params={params}
            search={{ open: 'new' }}
          >
            <UserPlus aria-hidden className="size-4" />
            {t('invite')}
          </ButtonLink>
        )
      }
      panel={(id, onClose) => <PersonPanel key={id} id={id} onClose={onClose} onSessions={toSessions} />}
    >
      <People />
    </ListPage>
  );
}

function People(): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const address = peopleRoute.useSearch();
  return (
    <AreaList<Member, (typeof STATUSES)[number]>
      part="people"
      address={address}
      sorts={['name', 'email', 'created_at']}
      sort="name"
      searched={t('searchPeople')}
      filter={{
        by: 'status',
        label: t('status'),
        options: STATUSES.map((value) => ({ value, label: t(`userStatus.${value}`) })),
      }}
      load={async ({ q, value, ...asked }, signal) => {
        const sought = q?.includes('@') ? { email: q } : { 'name[prefix]': q };
        const query = { ...asked, ...sought, status: value, limit: 50 };
        const { data } = await api.GET('/v1/identity/users', { params: { query }, signal });
        return { ...data, data: await withStanding(api, may, data.data, signal) };
      }}
      columns={useColumns()}
      table={(table) => (
        <Rows {...table} open={address.open} filtered={false} empty={<Empty title={t('nobody')} />} />
      )}
    />
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
