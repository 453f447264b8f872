import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson, useSession } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useReadAnew } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useStepUp } from './step-up.tsx';
import { Device, SessionBadges, type Session } from './session-parts.tsx';

const accountRoute = getRouteApi('/o/$organization/account');

/** Where one is signed in to this organization; each can be ended from here. */
export function OwnSessions(): ReactNode {
  const t = useTranslations('account');
  const api = useApi();
  const { id } = usePerson();
  const navigate = useNavigate();
  const { sessions: shown } = accountRoute.useSearch();
  const [ending, setEnding] = useState<Session>();
  const status: Session['status'] = shown ?? 'active';
  const list = useList(['sessions', 'own', status], async (cursor, signal) => {
    const query = { user_id: id, status, sort: '-last_seen_at', limit: 20, cursor };
    return (await api.GET('/v1/identity/sessions', { params: { query }, signal })).data;
  });
  const show = (value: string | undefined): void =>
    void navigate({ to: '.', search: value === 'ended' ? { sessions: value } : {}, replace: true });
  return (
    <Section
      title={t('sessions')}
      lead={t('sessionsLead')}
      actions={
        <FilterSelect
          label={t('shown')}
          value={status}
          onChange={show}
          options={[
            { value: 'active', label: t('goingOn') },
            { value: 'ended', label: t('over') },
          ]}
        />
      }
    >
      {list.error !== null && list.items.length === 0 && <Failure error={list.error} again={list.again} />}
      {list.loading && list.error === null && <div aria-busy className="bones h-28" />}
      {!list.loading && list.error === null && list.items.length === 0 && <Empty title={t('noSessions')} />}
      {list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {list.items.map((session) => (
            <Row key={session.id} session={session} onEnd={() => setEnding(session)} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <Button look="quiet" busy={list.loadingMore} onClick={list.more}>
          {t('more')}
        </Button>
      )}
      <EndSession session={ending} onClose={() => setEnding(undefined)} />
    </Section>
  );
}

function Row({ session, onEnd }: { session: Session; onEnd: () => void }): ReactNode {
  const t = useTranslations('account');
  const may = useMay();
  const { impersonation, ip, authenticated_at: since, last_seen_at: seen, status } = session;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 grow basis-64">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 font-medium">
          <Device session={session} />
          <SessionBadges session={session} />
        </p>
        <p className="mt-0.5 text-xs text-soft">
          {ip !== null && <>{ip} · </>}
          {t('since')} <Time at={since} /> · {t('seen')} <Time at={seen} relative />
        </p>
        {impersonation !== null && (
          <p className="mt-0.5 text-xs">{t('impersonatedBecause', { reason: impersonation.reason })}</p>
        )}
      </div>
      {status === 'active' && may('identity.sessions.revoke') && (
        <Button onClick={onEnd}>{session.current ? t('signOutHere') : t('endSession')}</Button>
      )}
    </li>
  );
}

/** Ends a session, with all that goes on by it; one's own by signing out. */
export function EndSession({
  session,
  onClose,
}: {
  session: Session | undefined;
  onClose: () => void;
}): ReactNode {
  const t = useTranslations('account');
  const api = useApi();
  const own = useSession();
  const stepUp = useStepUp();
  const say = useSay();
  const changed = useReadAnew('sessions');
  const end = useMutation({
    mutationFn: async ({ id, current }: Session) => {
      if (current) await own.signOut();
      else await stepUp.around(() => api.DELETE('/v1/identity/sessions/{id}', { params: { path: { id } } }));
    },
    onSuccess: async (_, { current }) => {
      onClose();
      if (current) return;
      say(t('sessionEnded'));
      await changed();
    },
  });
  const close = (): void => {
    end.reset();
    onClose();
  };
  return (
    <>
      <Confirm
        open={session !== undefined}
        onClose={close}
        title={session?.current ? t('signOutHere') : t('endSession')}
        action={session?.current ? t('signOutHere') : t('endSession')}
        onConfirm={() => session !== undefined && end.mutate(session)}
        busy={end.isPending}
        error={end.error}
        danger
      >
        {session?.current ? t('signOutLead') : t('endSessionLead')}
      </Confirm>
      {stepUp.dialog}
    </>
  );
}
