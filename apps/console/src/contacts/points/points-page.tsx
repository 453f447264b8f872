import type { ItemOf } from '@customer-platform/client';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Detail, Details } from '../../ui/details.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useBalance } from '../contact-facts.tsx';
import { useWords } from '../timeline/words.tsx';

const FROM = '/o/$organization/contacts/$contactId/points' as const;
const PAGE = 100;

type Transaction = ItemOf<'/v1/loyalty/transactions'>;

/** A contact's points: what it has, what will expire, and each movement. */
export function PointsPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const reads = { balance: may('loyalty.balances.read'), ledger: may('loyalty.transactions.read') };
  if (!reads.balance && !reads.ledger) return <Forbidden permission="loyalty.balances.read" />;
  return (
    <div className="flex flex-col gap-8">
      {reads.balance && (
        <Section title={t('points.balance')}>
          <Balance contactId={contactId} />
        </Section>
      )}
      {reads.ledger && (
        <Section title={t('points.ledger')}>
          <Ledger contactId={contactId} />
        </Section>
      )}
    </div>
  );
}

function Balance({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const { number } = useFormatter();
  const { data, error, refetch } = useBalance(contactId, true);
  if (data === undefined)
    return error === null ? (
      <div aria-busy className="bones h-12" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  return (
    <Details>
      <Detail name={t('points.available')}>
        <span className="text-xl font-semibold tabular-nums">{number(data.available)}</span>
      </Detail>
      {data.points !== data.available && (
        <Detail name={t('points.total')}>
          <span className="tabular-nums">{number(data.points)}</span>
        </Detail>
      )}
      {data.expiring.map(({ lot_id, points, expires_at }) => (
        <Detail key={lot_id} name={t('points.expiring')}>
          <span className="tabular-nums">{number(points)}</span> · <Time at={expires_at} />
        </Detail>
      ))}
    </Details>
  );
}

function Ledger({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const { number } = useFormatter();
  const api = useApi();
  const list = useList(['contacts', contactId, 'transactions'], async (cursor, signal) => {
    const query = { contact_id: contactId, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    return (await api.GET('/v1/loyalty/transactions', { params: { query }, signal })).data;
  });
  const columns: Column<Transaction>[] = [
    {
      id: 'at',
      header: t('points.at'),
      cell: ({ occurred_at, created_at }) => <Time at={occurred_at ?? created_at} />,
    },
    { id: 'kind', header: t('points.kind'), cell: ({ kind }) => words.kind(kind) },
    {
      id: 'points',
      header: t('fields.points'),
      end: true,
      cell: ({ points }) => number(points, { signDisplay: 'exceptZero' }),
    },
    {
      id: 'why',
      header: t('points.why'),
      cell: ({ reason, reference }) => [reason, reference].filter(Boolean).join(' · ') || '–',
    },
    {
      id: 'expires',
      header: t('points.expires'),
      cell: ({ expires_at: at }) => (at === null ? '–' : <Time at={at} />),
    },
  ];
  return (
    <DataTable
      label={t('points.ledger')}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={<Empty title={t('points.none')}>{t('points.noneLead')}</Empty>}
    />
  );
}
