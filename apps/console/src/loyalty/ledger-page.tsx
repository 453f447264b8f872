import { getRouteApi, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { AdjustPoints } from '../contacts/points/adjust-points.tsx';
import type { Transaction } from '../contacts/points/use-transaction.ts';
import { ContactChip } from '../people/contact-chip.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { lateComponent, LazyPart, lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { Rows, useChangeOf } from '../ui/list-page.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../ui/filters.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ContactCode } from './contact-code.tsx';
import { LoyaltyTabs } from './loyalty-tabs.tsx';
import { KINDS, type LedgerSearch } from './search-params.ts';

const ledgerRoute = getRouteApi('/o/$organization/loyalty');
const Balance = lateComponent(async () => (await import('./balance.tsx')).Balance);
const TransactionPanel = lazyPart(async () => (await import('./transaction-panel.tsx')).TransactionPanel);

/** Stands in the address in place of a row: the form that adds one. */
const ADJUST = 'adjust';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What was earned and spent: rows that are only ever added. */
export function LedgerPage(): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { organization } = usePerson();
  const { contact_id: contact, open } = ledgerRoute.useSearch();
  const change = useChangeOf<LedgerSearch>();
  if (!may('loyalty.transactions.read')) {
    const params = { organization: organization.slug };
    if (may('loyalty.rules.read'))
      return <Navigate to="/o/$organization/loyalty/rules" params={params} replace />;
    return <Forbidden permission="loyalty.transactions.read" />;
  }
  const known = contact !== undefined && UUID.test(contact);
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      actions={
        may('loyalty.transactions.create') && (
          <AdjustPoints
            contactId={known ? contact : undefined}
            label={t('adjust')}
            look="main"
            open={open === ADJUST}
            onOpen={(on) => change({ open: on ? ADJUST : undefined })}
          />
        )
      }
    >
      <LoyaltyTabs />
      <LedgerFilters />
      {known && may('loyalty.balances.read') && (
        <LazyPart fallback={<div aria-busy className="bones h-20" />}>
          <Balance contactId={contact} />
        </LazyPart>
      )}
      {contact === undefined || known ? <Ledger /> : <Empty title={t('noId')}>{t('noIdLead')}</Empty>}
    </Page>
  );
}

function LedgerFilters(): ReactNode {
  const t = useTranslations('loyalty');
  const search = ledgerRoute.useSearch();
  const change = useChangeOf<LedgerSearch>();
  const { contact_id: contact } = search;
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
      <SearchField
        label={t('reference')}
        value={search.reference ?? ''}
        onChange={(typed) => change({ reference: typed || undefined }, true)}
      />
      <FilterSelect
        label={t('kind')}
        value={search.kind}
        onChange={(kind) => change({ kind: KINDS.find((each) => each === kind) }, true)}
        options={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
      />
    </Filters>
  );
}

function Ledger(): ReactNode {
  const t = useTranslations('loyalty');
  const api = useApi();
  const change = useChangeOf<LedgerSearch>();
  const { open, ...filters } = ledgerRoute.useSearch();
  const list = useList<Transaction>(['loyalty', 'transactions', filters], async (cursor, signal) => {
    const query = { ...filters, cursor };
    return (await api.GET('/v1/loyalty/transactions', { params: { query }, signal })).data;
  });
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <>
      <Rows
        label={t('ledger')}
        list={list}
        columns={useColumns()}
        open={open}
        filtered={filtered}
        empty={<Empty title={t('empty')}>{t('emptyLead')}</Empty>}
      />
      <TransactionPanel id={open === ADJUST ? undefined : open} onClose={() => change({ open: undefined })} />
    </>
  );
}

const TONES = { earn: 'good', adjust: 'accent', spend: 'neutral', expire: 'warn', reverse: 'warn' } as const;

function useColumns(): Column<Transaction>[] {
  const t = useTranslations('loyalty');
  const { number } = useFormatter();
  return [
    { id: 'at', header: t('at'), cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: 'kind',
      header: t('kind'),
      cell: ({ kind }) => <Badge tone={TONES[kind]}>{t(`kinds.${kind}`)}</Badge>,
    },
    {
      id: 'points',
      header: t('points'),
      end: true,
      cell: ({ points }) => number(points, { signDisplay: 'exceptZero' }),
    },
    { id: 'contact', header: t('contact'), cell: ({ contact_id: id }) => <ContactCode id={id} /> },
    { id: 'reason', header: t('reason'), cell: ({ reason }) => <bdi>{reason ?? '–'}</bdi> },
    { id: 'reference', header: t('reference'), cell: ({ reference }) => <bdi>{reference ?? '–'}</bdi> },
  ];
}
