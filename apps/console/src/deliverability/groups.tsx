import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useChangeOf } from '../ui/list-page.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Empty } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import {
  groupKey,
  instantsOf,
  MEASURES,
  RATES,
  sendsOf,
  sorted,
  type Deliverability,
  type Grouping,
  type Period,
} from './deliverability.ts';
import { GroupName, useGroupNames } from './group-name.tsx';
import type { DeliverabilitySearch } from './search-params.ts';

const deliverabilityRoute = getRouteApi('/o/$organization/messages/deliverability');

interface GroupsProps {
  by: Grouping;
  read: {
    data: Deliverability | undefined;
    isPending: boolean;
    error: unknown;
    refetch: () => unknown;
  };
  range: { from: string; to: string };
}

/** Group beside group: each opens its own charts. */
export function Groups({ by, read, range }: GroupsProps): ReactNode {
  const t = useTranslations('deliverability');
  const change = useChangeOf<DeliverabilitySearch>();
  const { group, sort = 'sends' } = deliverabilityRoute.useSearch();
  const periods = sorted(read.data?.data ?? [], sort);
  const names = useGroupNames(
    by,
    periods.map(({ group: name }) => name),
  );
  const columns = useColumns(by, range, names);
  return (
    <Section title={t(`byGroup.${by}`)} lead={t('groupsLead')}>
      <DataTable
        label={t(`byGroup.${by}`)}
        list={{
          items: periods,
          loading: read.isPending,
          error: read.error,
          hasMore: false,
          loadingMore: false,
          more: () => undefined,
          again: () => void read.refetch(),
        }}
        columns={columns}
        keyOf={(period) => groupKey(period.group)}
        chosen={group}
        onOpen={(period) => change({ group: groupKey(period.group) })}
        sort={`-${sort}`}
        onSort={(next) => change({ sort: MEASURES.find((each) => next.endsWith(each)) }, true)}
        empty={<Empty title={t('none')}>{t('noneLead')}</Empty>}
      />
    </Section>
  );
}

function useColumns(
  by: Grouping,
  range: GroupsProps['range'],
  names: ReadonlyMap<string, string>,
): Column<Period>[] {
  const t = useTranslations('deliverability');
  const format = useFormatter();
  const may = useMay();
  const percent = (value: number | null): string =>
    value === null ? '–' : format.number(value, { style: 'percent', maximumFractionDigits: 1 });
  const listed = may('messaging.sends.read') && (by === 'channel' || by === 'campaign');
  return [
    {
      id: 'group',
      header: t(`groupings.${by}`),
      cell: ({ group }) => <GroupName by={by} group={group} names={names} />,
    },
    {
      id: 'sends',
      header: t('sends'),
      sort: 'sends',
      end: true,
      cell: ({ sends }) => format.number(sends),
    },
    ...RATES.map((rate) => ({
      id: rate,
      header: t(`rates.${rate}`),
      sort: rate,
      end: true,
      cell: ({ rates }: Period) => percent(rates[rate]),
    })),
    ...(listed
      ? [
          {
            id: 'list',
            header: t('list'),
            cell: ({ group }: Period) => <ToSends by={by} group={group} range={range} />,
          },
        ]
      : []),
  ];
}

function ToSends({
  by,
  group,
  range,
}: {
  by: Grouping;
  group: string | null;
  range: GroupsProps['range'];
}): ReactNode {
  const t = useTranslations('deliverability');
  const { organization } = usePerson();
  const sends = sendsOf(by, group);
  if (sends === undefined) return null;
  return (
    <Link
      to="/o/$organization/messages"
      params={{ organization: organization.slug }}
      search={{ ...sends, ...instantsOf(range) }}
      className="text-accent underline"
      // The row that it stands in opens something else.
      onClick={(event) => event.stopPropagation()}
    >
      {t('theSends')}
    </Link>
  );
}
