import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { Explain } from './explain.tsx';
import { useMember, type Member } from './people.ts';
import { PersonRoles } from './person-roles.tsx';
import { Removal } from './removal.tsx';
import { USER_TONES } from './tones.ts';
import { useActs, type Act, type Acts } from './use-acts.tsx';

interface PersonPanelProps {
  id: string;
  onClose: () => void;
  onSessions: (userId: string) => void;
}

/** One person: what is known, what they may do and why, and what can be done about it. */
export function PersonPanel({ id, onClose, onSessions }: PersonPanelProps): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { data, error, refetch } = useMember(id);
  return (
    <Dialog open onClose={onClose} place="side" title={data?.user.name ?? t('person')}>
      {error !== null && data === undefined && <Failure error={error} again={() => void refetch()} />}
      {error === null && data === undefined && <div aria-busy className="bones h-64" />}
      {data !== undefined && (
        <>
          <Known member={data} />
          <PersonRoles member={data} />
          {may('identity.roles.read') && data.user.deleted_at === null && (
            <Section title={t('explain')} lead={t('explainLead')}>
              <Explain principal={{ type: 'user', id }} />
            </Section>
          )}
          <Section title={t('whatToDo')}>
            <Steps member={data} onGone={onClose} />
            {may('identity.users.update') && may('identity.sessions.read') && (
              <p>
                <Button onClick={() => onSessions(id)}>{t('toSessions')}</Button>
              </p>
            )}
          </Section>
        </>
      )}
    </Dialog>
  );
}

function Known({ member: { user } }: { member: Member }): ReactNode {
  const t = useTranslations('organization');
  return (
    <Details>
      <Detail name={t('email')}>
        {user.email} {!user.email_verified && <Badge tone="warn">{t('unverified')}</Badge>}
      </Detail>
      <Detail name={t('status')}>
        {user.deleted_at === null ? (
          <Badge tone={USER_TONES[user.status] ?? 'neutral'}>{t(`userStatus.${user.status}`)}</Badge>
        ) : (
          <Badge>{t('deleted')}</Badge>
        )}
      </Detail>
      <Detail name={t('factor')}>{user.mfa_enabled ? t('yes') : t('no')}</Detail>
      <Detail name={t('lastSignIn')}>
        {user.last_sign_in_at === null ? t('never') : <Time at={user.last_sign_in_at} />}
      </Detail>
      <Detail name={t('id')}>
        <Id value={user.id} />
      </Detail>
    </Details>
  );
}

/** Each is there for whom it is allowed, where it makes sense now. */
function Steps({ member, onGone }: { member: Member; onGone: () => void }): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const acts = useActs();
  const { act, ask, busy, shown } = acts;
  const steps = useUserSteps(member.user.id);
  const { user, membershipId } = member;
  const named = { name: user.name };
  const managed = user.organization_id === organization.id;
  const live = user.deleted_at === null;
  const update = live && managed && may('identity.users.update');
  return (
    <>
      {!managed && <p className="text-soft">{t('managedElsewhere')}</p>}
      <div className="flex flex-wrap gap-2">
        {update && user.status === 'active' && (
          <Button
            onClick={() =>
              ask({
                ...steps.suspend,
                title: t('suspendUser', named),
                lead: t('suspendUserLead'),
                action: t('suspend'),
              })
            }
          >
            {t('suspend')}
          </Button>
        )}
        {update && user.status === 'suspended' && (
          <Button busy={busy} onClick={() => act(steps.reactivate)}>
            {t('reactivate')}
          </Button>
        )}
        {update && user.mfa_enabled && (
          <Button
            onClick={() =>
              ask({
                ...steps.resetMfa,
                title: t('resetMfa'),
                lead: t('resetMfaLead', named),
                action: t('resetMfa'),
              })
            }
          >
            {t('resetMfa')}
          </Button>
        )}
        {live && membershipId === undefined && may('identity.memberships.create') && (
          <Button busy={busy} onClick={() => act(steps.join)}>
            {t('makeMember')}
          </Button>
        )}
        {live && membershipId !== undefined && may('identity.memberships.delete') && (
          <Button
            look="danger"
            onClick={() =>
              ask({
                ...steps.leave(membershipId),
                title: t('removeUser', named),
                lead: t('removeUserLead'),
                action: t('remove'),
              })
            }
          >
            {t('remove')}
          </Button>
        )}
        <Ends member={member} managed={managed} acts={acts} onGone={onGone} />
      </div>
      {shown}
    </>
  );
}

interface EndsProps {
  acts: Acts;
  member: Member;
  managed: boolean;
  onGone: () => void;
}

/** Deleting, and what becomes of it. */
function Ends({ member: { user }, managed, acts, onGone }: EndsProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  if (!managed) return null;
  const params = { path: { id: user.id } };
  return (
    <Removal
      name={user.name}
      deleted={user.deleted_at !== null}
      acts={acts}
      label={t('deleteTheUser')}
      title={t('deleteUser', { name: user.name })}
      lead={t('deleteUserLead')}
      mayDelete={may('identity.users.delete')}
      mayPurge={may('identity.users.purge')}
      remove={() => api.DELETE('/v1/identity/users/{id}', { params })}
      restore={() => api.POST('/v1/identity/users/{id}/restore', { params })}
      purge={() => api.DELETE('/v1/identity/users/{id}/purge', { params })}
      onGone={onGone}
    />
  );
}

function useUserSteps(id: string) {
  const t = useTranslations('organization');
  const api = useApi();
  const params = { path: { id } };
  const patch = (body: { status?: 'active' | 'suspended'; reset_mfa?: true }) => () =>
    api.PATCH('/v1/identity/users/{id}', { params, body });
  const reactivate: Act = { run: patch({ status: 'active' }), done: t('userReactivated') };
  return {
    reactivate,
    suspend: { run: patch({ status: 'suspended' }), done: t('userSuspended'), undo: reactivate },
    resetMfa: { run: patch({ reset_mfa: true }), done: t('mfaReset') },
    join: {
      run: () => api.POST('/v1/identity/memberships', { body: { user_id: id } }),
      done: t('memberMade'),
    },
    leave: (membershipId: string): Act => ({
      run: () => api.DELETE('/v1/identity/memberships/{id}', { params: { path: { id: membershipId } } }),
      done: t('memberRemoved'),
    }),
  };
}
