import { getRouteApi } from '@tanstack/react-router';
import type { ItemOf } from '@customer-platform/client';
import { RotateCw, UserPlus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { useRoles } from './people.ts';
import type { AreaSearch } from './search-params.ts';
import { INVITATION_TONES } from './tones.ts';
import { useActs } from './use-acts.tsx';
import { useSearch } from './use-search.ts';

const invitationsRoute = getRouteApi('/o/$organization/organization/invitations');

type Invitation = ItemOf<'/v1/identity/invitations'>;
const STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const;

/** Who was asked to come in, and what became of it. */
export function InvitationsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const [search, set] = useSearch(invitationsRoute.useSearch(), ['created_at', 'expires_at']);
  const list = useInvitations(search);
  const { ask, act, shown } = useActs();
  const columns = useColumns({ ask, act });
  if (!may('identity.invitations.read')) return <Forbidden permission="identity.invitations.read" />;
  const invite = may('identity.invitations.create') && (
    <Button look="main" onClick={() => set({ create: true })}>
      <UserPlus aria-hidden className="size-4" />
      {t('invite')}
    </Button>
  );
  return (
    <Section title={t('parts.invitations')} lead={t('invitationsLead')} actions={invite}>
      <Filters>
        <SearchField main label={t('wholeEmail')} value={search.q ?? ''} onChange={(q) => set({ q })} />
        <FilterSelect
          label={t('status')}
          value={search.status}
          onChange={(status) => set({ status })}
          options={STATUSES.map((value) => ({ value, label: t(`invitationStatus.${value}`) }))}
        />
      </Filters>
      <DataTable
        label={t('parts.invitations')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? '-created_at'}
        onSort={(sort) => set({ sort })}
        empty={<Empty title={t('noInvitations')} />}
      />
      {shown}
      {may('identity.invitations.create') && (
        <InviteDialog open={search.create === true} onClose={() => set({ create: undefined })} />
      )}
    </Section>
  );
}

function useInvitations({ q, status, sort = '-created_at' }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  return useList<Invitation>(
    ['organization', 'invitations', q, status, sort],
    async (cursor, signal) => {
      const query = {
        ...(q !== undefined && { email: q }),
        ...(STATUSES.some((each) => each === status) && { status: status as Invitation['status'] }),
        sort,
        cursor,
      };
      return (await api.GET('/v1/identity/invitations', { params: { query }, signal })).data;
    },
    { enabled: may('identity.invitations.read') },
  );
}

function useColumns(acts: Pick<ReturnType<typeof useActs>, 'ask' | 'act'>): Column<Invitation>[] {
  const t = useTranslations('organization');
  const roles = useRoles();
  const named = (id: string): string => roles.find((role) => role.id === id)?.name ?? id;
  return [
    { id: 'email', header: t('email'), cell: ({ email }) => <span className="font-medium">{email}</span> },
    {
      id: 'status',
      header: t('status'),
      cell: ({ status }) => (
        <Badge tone={INVITATION_TONES[status] ?? 'neutral'}>{t(`invitationStatus.${status}`)}</Badge>
      ),
    },
    {
      id: 'roles',
      header: t('parts.roles'),
      cell: ({ role_ids: ids }) =>
        ids.length === 0 ? <Badge tone="warn">{t('noRoles')}</Badge> : ids.map(named).join(', '),
    },
    {
      id: 'expires',
      header: t('expires'),
      sort: 'expires_at',
      cell: ({ expires_at: at, accepted_at: accepted }) => <Time at={accepted ?? at} relative />,
    },
    { id: 'sent', header: t('made'), sort: 'created_at', cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: 'steps',
      header: t('whatToDo'),
      end: true,
      cell: (invitation) => <Steps invitation={invitation} {...acts} />,
    },
  ];
}

interface StepsProps extends Pick<ReturnType<typeof useActs>, 'ask' | 'act'> {
  invitation: Invitation;
}

function Steps({ invitation: { id, email, status }, ask, act }: StepsProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  if (!may('identity.invitations.create') || (status !== 'pending' && status !== 'expired')) return null;
  const params = { path: { id } };
  return (
    <>
      <IconButton
        label={t('resendTo', { email })}
        onClick={() =>
          act({ run: () => api.POST('/v1/identity/invitations/{id}/resend', { params }), done: t('resent') })
        }
      >
        <RotateCw aria-hidden className="size-4" />
      </IconButton>
      <IconButton
        label={t('revokeOf', { email })}
        onClick={() =>
          ask({
            run: () => api.DELETE('/v1/identity/invitations/{id}', { params }),
            done: t('revoked'),
            title: t('revokeOf', { email }),
            lead: t('revokeLead'),
            action: t('revoke'),
          })
        }
      >
        <X aria-hidden className="size-4" />
      </IconButton>
    </>
  );
}
