import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { EndSession } from '../account/own-sessions.tsx';
import { Device, SessionBadges, type Session } from '../account/session-parts.tsx';
import { useApi } from '../api/api.tsx';
import { UserName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden, Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import type { AreaSearch } from './search-params.ts';
import { useSearch } from './use-search.ts';

const sessionsRoute = getRouteApi('/o/$organization/organization/sessions');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Who is signed in to the organization, from where; those in which somebody acts as another are named. */
export function SessionsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const [search, set] = useSearch(sessionsRoute.useSearch(), ['created_at', 'last_seen_at']);
  const [ending, setEnding] = useState<Session>();
  const list = useSessions(search);
  const columns = useColumns(setEnding);
  if (!may('identity.users.update')) return <Forbidden permission="identity.users.update" />;
  if (!may('identity.sessions.read')) return <Forbidden permission="identity.sessions.read" />;
  return (
    <Section title={t('parts.sessions')} lead={t('sessionsLead')}>
      <Filters>
        <FilterSelect
          label={t('status')}
          value={search.status}
          onChange={(status) => set({ status })}
          options={(['active', 'ended'] as const).map((value) => ({
            value,
            label: t(`sessionStatus.${value}`),
          }))}
        />
        {search.q !== undefined && (
          <Button onClick={() => set({ q: undefined })}>
            {t('onlyOf')} <UserName id={search.q} /> <span aria-hidden>×</span>
          </Button>
        )}
      </Filters>
      {search.q !== undefined && !UUID.test(search.q) && <Note tone="warn">{t('noSuchUser')}</Note>}
      <DataTable
        label={t('parts.sessions')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        sort={search.sort ?? '-last_seen_at'}
        onSort={(sort) => set({ sort })}
        empty={<Empty title={t('none')} />}
      />
      <EndSession session={ending} onClose={() => setEnding(undefined)} />
    </Section>
  );
}

function useSessions({ q, status, sort = '-last_seen_at' }: AreaSearch) {
  const api = useApi();
  const may = useMay();
  return useList<Session>(
    ['sessions', 'all', q, status, sort],
    async (cursor, signal) => {
      const state: Session['status'] | undefined =
        status === 'active' || status === 'ended' ? status : undefined;
      const query = {
        ...(q !== undefined && UUID.test(q) && { user_id: q }),
        status: state,
        sort,
        limit: 50,
        cursor,
      };
      return (await api.GET('/v1/identity/sessions', { params: { query }, signal })).data;
    },
    { enabled: may('identity.users.update') && may('identity.sessions.read') },
  );
}

function useColumns(onEnd: (session: Session) => void): Column<Session>[] {
  const t = useTranslations('organization');
  const may = useMay();
  return [
    {
      id: 'person',
      header: t('person'),
      cell: ({ user_id: id }) => (
        <span className="font-medium">
          <UserName id={id} />
        </span>
      ),
    },
    { id: 'device', header: t('device'), cell: (session) => <Device session={session} /> },
    { id: 'kind', header: t('howItIs'), cell: (session) => <SessionBadges session={session} /> },
    {
      id: 'actor',
      header: t('actor'),
      cell: ({ impersonation }) =>
        impersonation !== null && (
          <span title={impersonation.reason}>
            <UserName id={impersonation.actor_id} />: {impersonation.reason}
          </span>
        ),
    },
    { id: 'ip', header: 'IP', cell: ({ ip }) => ip },
    {
      id: 'seen',
      header: t('lastSeen'),
      sort: 'last_seen_at',
      cell: ({ last_seen_at: at }) => <Time at={at} relative />,
    },
    {
      id: 'end',
      header: t('whatToDo'),
      end: true,
      cell: (session) =>
        session.status === 'active' &&
        may('identity.sessions.revoke') && (
          <Button className="min-h-8!" onClick={() => onEnd(session)}>
            {t('endSession')}
          </Button>
        ),
    },
  ];
}
