import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import { ContactChip } from '../people/contact-chip.tsx';
import { ContactName } from '../people/person.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { Checkbox } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import { RequestState } from './request-state.tsx';
import { STATES, TYPES, type PrivacySearch } from './search-params.ts';
import { requestsQuery, type SubjectRequest } from './subject-request.ts';

const privacyRoute = getRouteApi('/o/$organization/privacy');
const NewRequestPanel = lazyPart(async () => (await import('./new-request.tsx')).NewRequestPanel);
const RequestPanel = lazyPart(async () => (await import('./request-panel.tsx')).RequestPanel);

const READ_EVERY_MS = 10_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What persons have asked for by law, and what has to be done by when. */
export function PrivacyPage(): ReactNode {
  const t = useTranslations('privacy');
  const may = useMay();
  const { open, ask, contact_id: contact } = privacyRoute.useSearch();
  if (!may('core.subject_requests.read')) return <Forbidden permission="core.subject_requests.read" />;
  const known = contact !== undefined && UUID.test(contact);
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('core.subject_requests.create') && t('newRequest')}
      form={(props) => <NewRequestPanel key={ask} type={ask} contactId={known ? contact : ''} {...props} />}
      panel={(id, onClose) => <RequestPanel key={id} id={id} onClose={onClose} />}
    >
      <RequestFilters />
      {contact === undefined || known ? <Requests /> : <Empty title={t('noId')}>{t('noIdLead')}</Empty>}
    </ListPage>
  );
}

function RequestFilters(): ReactNode {
  const t = useTranslations('privacy');
  const { type, state, overdue, closed, contact_id: contact } = privacyRoute.useSearch();
  const change = useChangeOf<PrivacySearch>();
  return (
    <Filters>
      {contact !== undefined && UUID.test(contact) ? (
        <ContactChip id={contact} onClear={() => change({ contact_id: undefined }, true)} />
      ) : (
        <SearchField
          main
          label={t('contactId')}
          value={contact ?? ''}
          onChange={(typed) => change({ contact_id: typed.trim() || undefined }, true)}
        />
      )}
      <FilterSelect
        label={t('type')}
        value={type}
        onChange={(value) => change({ type: TYPES.find((each) => each === value) }, true)}
        options={TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
      />
      <FilterSelect
        label={t('state')}
        value={state}
        onChange={(value) => change({ state: STATES.find((each) => each === value) }, true)}
        options={STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
      />
      <Checkbox
        label={t('overdueOnly')}
        checked={overdue === true}
        onChange={({ target }) => change({ overdue: target.checked ? true : undefined }, true)}
      />
      <Checkbox
        label={t('withClosed')}
        checked={closed === true}
        onChange={({ target }) => change({ closed: target.checked ? true : undefined }, true)}
      />
    </Filters>
  );
}

function Requests(): ReactNode {
  const t = useTranslations('privacy');
  const api = useApi();
  const { open, ask: _, ...filters } = privacyRoute.useSearch();
  // The same for all pages of the list: a cursor goes on in what it began with.
  const [now] = useState(() => new Date().toISOString());
  const list = useList<SubjectRequest>(
    ['privacy', 'list', filters],
    async (cursor, signal) => {
      const query = { ...requestsQuery(filters, now), cursor };
      return (await api.GET('/v1/core/subject-requests', { params: { query }, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Rows
      label={t('requests')}
      list={list}
      columns={useColumns()}
      open={open}
      filtered={filtered}
      empty={<Empty title={t('noRequests')}>{t('noRequestsLead')}</Empty>}
    />
  );
}

function useColumns(): Column<SubjectRequest>[] {
  const t = useTranslations('privacy');
  return [
    { id: 'due', header: t('due'), cell: ({ due_at: at }) => <Time at={at} /> },
    { id: 'type', header: t('type'), cell: ({ type }) => t(`types.${type}`) },
    {
      id: 'state',
      header: t('state'),
      cell: (request) => (
        <span className="flex items-center gap-2">
          <RequestState request={request} />
          {request.overdue && <Badge tone="bad">{t('overdue')}</Badge>}
        </span>
      ),
    },
    {
      id: 'contact',
      header: t('contact'),
      cell: ({ contact_id: id }) => <ContactName id={id} />,
    },
    { id: 'received', header: t('received'), cell: ({ received_at: at }) => <Time at={at} /> },
  ];
}
