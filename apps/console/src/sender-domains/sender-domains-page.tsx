import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { MessageTabs } from '../messages/message-tabs.tsx';
import { useMay } from '../session/use-session.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { DeletedFilter, ListPage, Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FormFrame } from '../ui/draft-form.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { TextField } from '../ui/form.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Failure, Forbidden } from '../ui/notices.tsx';
import { isAtFields, problemAt } from '../ui/problem-at.ts';
import { Time } from '../ui/time.tsx';
import { DomainStateBadge } from './domain-state.tsx';
import type { SenderDomainsSearch } from './search-params.ts';
import { DOMAIN_SORTS, DOMAIN_STATES, foundOf, type SenderDomain } from './sender-domain.ts';
import { useCreateSenderDomain } from './use-sender-domains.ts';

const senderDomainsRoute = getRouteApi('/o/$organization/messages/sender-domains');
const SenderDomainPanel = lazyPart(async () => (await import('./sender-domain-panel.tsx')).SenderDomainPanel);

/** A domain that is being verified is seen to be so. */
const READ_EVERY_MS = 10_000;
const LONGEST = 253;

/** From which domains mail leaves, and what DNS has to say for that. */
export function SenderDomainsPage(): ReactNode {
  const t = useTranslations('sender-domains');
  const may = useMay();
  const { open } = senderDomainsRoute.useSearch();
  if (!may('messaging.domains.read')) return <Forbidden permission="messaging.domains.read" />;
  return (
    <ListPage
      title={t('title')}
      lead={t('lead')}
      open={open}
      add={may('messaging.domains.create') && t('new')}
      form={(props) => <NewSenderDomain {...props} />}
      panel={(id, onClose) => <SenderDomainPanel key={id} id={id} onClose={onClose} />}
    >
      <MessageTabs />
      <DomainFilters />
      <Domains />
    </ListPage>
  );
}

function DomainFilters(): ReactNode {
  const t = useTranslations('sender-domains');
  const { domain, state } = senderDomainsRoute.useSearch();
  const change = useChangeOf<SenderDomainsSearch>();
  return (
    <Filters>
      <SearchField
        main
        label={t('byDomain')}
        value={domain ?? ''}
        onChange={(typed) => change({ domain: typed || undefined }, true)}
      />
      <FilterSelect
        label={t('state')}
        value={state}
        onChange={(value) => change({ state: DOMAIN_STATES.find((each) => each === value) }, true)}
        options={DOMAIN_STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
      />
      <DeletedFilter label={t('withDeleted')} />
    </Filters>
  );
}

function Domains(): ReactNode {
  const t = useTranslations('sender-domains');
  const api = useApi();
  const change = useChangeOf<SenderDomainsSearch>();
  const { open, domain, state, deleted, sort } = senderDomainsRoute.useSearch();
  const list = useList<SenderDomain>(
    ['sender-domains', 'list', domain, state, deleted, sort],
    async (cursor, signal) => {
      const query = {
        'domain[prefix]': domain?.toLowerCase(),
        state,
        include_deleted: deleted,
        sort,
        cursor,
      };
      return (await api.GET('/v1/messaging/sender-domains', { params: { query }, signal })).data;
    },
    { refetchInterval: READ_EVERY_MS },
  );
  return (
    <Rows
      label={t('title')}
      list={list}
      columns={useColumns()}
      open={open}
      sort={sort ?? '-created_at'}
      onSort={(next) => change({ sort: DOMAIN_SORTS.find((each) => each === next) }, true)}
      filtered={domain !== undefined || state !== undefined}
      empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<SenderDomain>[] {
  const t = useTranslations('sender-domains');
  return [
    {
      id: 'domain',
      header: t('domain'),
      sort: 'domain',
      cell: ({ domain }) => <bdi className="font-medium">{domain}</bdi>,
    },
    { id: 'state', header: t('state'), cell: (row) => <DomainStateBadge domain={row} /> },
    { id: 'records', header: t('records'), cell: ({ records }) => t('foundOf', foundOf(records)) },
    {
      id: 'failing',
      header: t('failingSince'),
      cell: ({ failing_since: since }) => (since === null ? '' : <Time at={since} />),
    },
    {
      id: 'made',
      header: t('createdAt'),
      sort: 'created_at',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ];
}

interface NewSenderDomainProps {
  onClose: () => void;
  onMade: (made: { id: string }) => void;
}

function NewSenderDomain({ onClose, onMade }: NewSenderDomainProps): ReactNode {
  const t = useTranslations('sender-domains');
  const [domain, setDomain] = useState('');
  const create = useCreateSenderDomain(onMade);
  return (
    <Dialog open onClose={onClose} title={t('new')} lead={t('newLead')}>
      <FormFrame
        onSend={() => create.mutate(domain.trim())}
        onCancel={onClose}
        busy={create.isPending}
        action={t('create')}
      >
        <TextField
          label={t('domain')}
          hint={t('domainHint')}
          required
          inputMode="url"
          spellCheck={false}
          maxLength={LONGEST}
          value={domain}
          error={problemAt(create.error, '/domain')}
          onChange={({ target }) => setDomain(target.value)}
        />
        {create.error !== null && !isAtFields(create.error, ['/domain']) && <Failure error={create.error} />}
      </FormFrame>
    </Dialog>
  );
}
