import { getRouteApi, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ContactChip } from '../people/contact-chip.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden, NothingMatches } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { MessageTabs } from './message-tabs.tsx';
import { MESSAGE_PARTS } from './parts.ts';
import type { SendsSearch } from './search-params.ts';
import type { Send } from './send.ts';
import { CATEGORIES, CHANNELS, REASONS, STATES } from './vocabulary.ts';
import { Reason, StateBadge } from './words.tsx';

const sendsRoute = getRouteApi('/o/$organization/messages');
const SendPanel = lazyPart(async () => (await import('./send-panel.tsx')).SendPanel);

const REFRESHED_MS = 5_000;
const FURTHER = [
  'run_id',
  'source_id',
  'template_id',
  'correlation_id',
  'from',
  'to',
] as const satisfies readonly (keyof SendsSearch)[];
const AT = { dateStyle: 'medium', timeStyle: 'short' } as const;

/** What was sent, or was not and why. */
export function SendsPage(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  if (!may('messaging.sends.read')) {
    const first = MESSAGE_PARTS.find(({ permission }) => may(permission));
    if (first === undefined) return <Forbidden permission="messaging.sends.read" />;
    return <Navigate to={first.to} params={{ organization: organization.slug }} replace />;
  }
  return (
    <Page title={t('title')} lead={t('sendsLead')}>
      <MessageTabs />
      <SendFilters />
      <OneContact />
      <FurtherFilters />
      <SendTable />
    </Page>
  );
}

function useFilter(): (changed: SendsSearch) => void {
  const navigate = sendsRoute.useNavigate();
  return (changed) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...changed }).filter(
            ([, value]) => value !== undefined && value !== '',
          ),
        ) as SendsSearch,
      replace: true,
      resetScroll: false,
    });
}

function SendFilters(): ReactNode {
  const t = useTranslations('messages');
  const search = sendsRoute.useSearch();
  const filter = useFilter();
  const one = (name: keyof SendsSearch) => (value: string | undefined) =>
    filter({ ...search, [name]: value ?? '' });
  return (
    <Filters>
      <SearchField main label={t('address')} value={search.address ?? ''} onChange={one('address')} />
      <FilterSelect
        label={t('channel')}
        value={search.channel}
        onChange={one('channel')}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
      />
      <FilterSelect
        label={t('state')}
        value={search.state}
        onChange={one('state')}
        options={STATES.map((value) => ({ value, label: t(`states.${value}`) }))}
      />
      <FilterSelect
        label={t('category')}
        value={search.category}
        onChange={one('category')}
        options={CATEGORIES.map((value) => ({ value, label: t(`categories.${value}`) }))}
      />
      <FilterSelect
        label={t('reason')}
        value={search.reason}
        onChange={one('reason')}
        options={REASONS.map((value) => ({ value, label: value }))}
      />
    </Filters>
  );
}

function OneContact(): ReactNode {
  const { contact_id: contact } = sendsRoute.useSearch();
  const filter = useFilter();
  if (contact === undefined) return null;
  return (
    <div>
      <ContactChip id={contact} onClear={() => filter({ contact_id: '' })} />
    </div>
  );
}

/** What another page filtered by, and no field shows: said, and taken off by one press. */
function FurtherFilters(): ReactNode {
  const t = useTranslations('messages');
  const format = useFormatter();
  const search = sendsRoute.useSearch();
  const filter = useFilter();
  const held = FURTHER.filter((name) => search[name] !== undefined);
  if (held.length === 0) return null;
  const what = held.map((name) => {
    const at = new Date(search[name] ?? '');
    const known = (name === 'from' || name === 'to') && !Number.isNaN(at.getTime());
    return t(`hidden.${name}`, { at: known ? format.dateTime(at, AT) : (search[name] ?? '') });
  });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-soft">{t('filteredBy', { what: what.join(', ') })}</span>
      <Button look="quiet" onClick={() => filter(Object.fromEntries(held.map((name) => [name, ''])))}>
        {t('showAll')}
      </Button>
    </div>
  );
}

function SendTable(): ReactNode {
  const t = useTranslations('messages');
  const addressBeside = useAddressBeside();
  const api = useApi();
  const filter = useFilter();
  const { open, ...filters } = sendsRoute.useSearch();
  const list = useList<Send>(
    ['messages', 'sends', filters],
    async (cursor, signal) => {
      const { from, to, ...named } = filters;
      const query = {
        ...named,
        ...(from === undefined ? {} : { 'created_at[gte]': from }),
        ...(to === undefined ? {} : { 'created_at[lt]': to }),
        ...(cursor === undefined ? {} : { cursor }),
      } as Record<string, never>;
      return (await api.GET('/v1/messaging/sends', { params: { query }, signal })).data;
    },
    { refetchInterval: REFRESHED_MS },
  );
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <DataTable
        label={t('sends')}
        list={list}
        columns={useColumns()}
        keyOf={({ id }) => id}
        chosen={open}
        onOpen={({ id }) => filter({ ...filters, open: id })}
        addressOf={({ id }) => addressBeside(id)}
        empty={filtered ? <NothingMatches /> : <Empty title={t('noSends')}>{t('noSendsLead')}</Empty>}
      />
      {open !== undefined && <SendPanel id={open} onClose={() => filter({ ...filters, open: '' })} />}
    </>
  );
}

function useColumns(): Column<Send>[] {
  const t = useTranslations('messages');
  return [
    { id: 'address', header: t('address'), cell: ({ address }) => address ?? t('noAddress') },
    { id: 'subject', header: t('subject'), cell: ({ subject }) => subject ?? '' },
    { id: 'channel', header: t('channel'), cell: ({ channel }) => t(`channels.${channel}`) },
    { id: 'state', header: t('state'), cell: ({ state }) => <StateBadge state={state} /> },
    { id: 'reason', header: t('reason'), cell: ({ reason }) => <Reason code={reason} /> },
    { id: 'at', header: t('acceptedAt'), cell: ({ created_at: at }) => <Time at={at} /> },
  ];
}
