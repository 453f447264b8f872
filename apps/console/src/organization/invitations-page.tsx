import { getRouteApi } from '@tanstack/react-router';
import type { ItemOf } from '@customer-platform/client';
import { RotateCw, UserPlus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { ListPage, OpenForm } from '../ui/list-page.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { AreaList } from './area-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { useRoles } from './people.ts';
import { INVITATION_TONES } from './tones.ts';
import { useActs } from './use-acts.tsx';

const invitationsRoute = getRouteApi('/o/$organization/organization/invitations');

type Invitation = ItemOf<'/v1/identity/invitations'>;
const STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const;

/** Who was asked to come in, and what became of it. */
export function InvitationsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { open } = invitationsRoute.useSearch();
  if (!may('identity.invitations.read')) return <Forbidden permission="identity.invitations.read" />;
  const add = may('identity.invitations.create') && t('invite');
  return (
    <ListPage
      frame={Section}
      title={t('parts.invitations')}
      lead={t('invitationsLead')}
      open={open}
      add={add}
      actions={add !== false && <OpenForm label={add} icon={UserPlus} />}
      form={({ onClose }) => <InviteDialog onClose={onClose} />}
    >
      <Invitations />
    </ListPage>
  );
}

function Invitations(): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const { ask, act, shown } = useActs();
  return (
    <>
      <AreaList<Invitation, (typeof STATUSES)[number]>
        part="invitations"
        address={invitationsRoute.useSearch()}
        sorts={['created_at', 'expires_at']}
        sort="-created_at"
        searched={t('wholeEmail')}
        filter={{
          by: 'status',
          label: t('status'),
          options: STATUSES.map((value) => ({ value, label: t(`invitationStatus.${value}`) })),
        }}
        withDeleted={false}
        load={async ({ q, value, include_deleted: _, ...asked }, signal) => {
          const query = { ...asked, email: q, status: value };
          return (await api.GET('/v1/identity/invitations', { params: { query }, signal })).data;
        }}
        columns={useColumns({ ask, act })}
        table={(table) => (
          <DataTable {...table} keyOf={({ id }) => id} empty={<Empty title={t('noInvitations')} />} />
        )}
      />
      {shown}
    </>
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
