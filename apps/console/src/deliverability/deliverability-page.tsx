import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { MessageTabs } from '../messages/message-tabs.tsx';
import { useMay } from '../session/use-session.tsx';
import { useChangeOf } from '../ui/list-page.tsx';
import { Filters } from '../ui/filters.tsx';
import { Empty, Failure, Forbidden } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Charts } from './charts.tsx';
import { GRANULARITIES, GROUPINGS, groupKey, MOST_DAYS, ofGroup, rangeOf } from './deliverability.ts';
import { Groups } from './groups.tsx';
import type { DeliverabilitySearch } from './search-params.ts';
import { Summary } from './summary.tsx';
import { useDeliverability } from './use-deliverability.ts';

const deliverabilityRoute = getRouteApi('/o/$organization/messages/deliverability');

/** What became of what was sent: by day, channel, domain and campaign. */
export function DeliverabilityPage(): ReactNode {
  const t = useTranslations('deliverability');
  const may = useMay();
  if (!may('messaging.deliverability.read')) return <Forbidden permission="messaging.deliverability.read" />;
  return (
    <Page title={t('title')} lead={t('lead')}>
      <MessageTabs />
      <DeliverabilityFilters />
      <Shown />
    </Page>
  );
}

/** The days that the address names; what it leaves open stays the same while one looks. */
function useRange(): { from: string; to: string } {
  const search = deliverabilityRoute.useSearch();
  const [now] = useState(() => new Date());
  return rangeOf(search, now);
}

function DeliverabilityFilters(): ReactNode {
  const t = useTranslations('deliverability');
  const { granularity = 'day', group_by: by } = deliverabilityRoute.useSearch();
  const change = useChangeOf<DeliverabilitySearch>();
  const { from, to } = useRange();
  return (
    <Filters>
      <DateField label={t('from')} value={from} onChange={(value) => change({ from: value }, true)} />
      <DateField label={t('to')} value={to} onChange={(value) => change({ to: value }, true)} />
      <Choice
        label={t('granularity')}
        value={granularity}
        options={GRANULARITIES.map((value) => ({ value, label: t(`granularities.${value}`) }))}
        onChange={(value) => change({ granularity: GRANULARITIES.find((each) => each === value) }, true)}
      />
      <Choice
        label={t('groupBy')}
        value={by ?? ''}
        options={[
          { value: '', label: t('notGrouped') },
          ...GROUPINGS.map((value) => ({ value, label: t(`groupings.${value}`) })),
        ]}
        onChange={(value) =>
          change({ group_by: GROUPINGS.find((each) => each === value), group: undefined }, true)
        }
      />
    </Filters>
  );
}

interface DateFieldProps {
  label: string;
  value: string;
  onChange: (value: string | undefined) => void;
}

function DateField({ label, value, onChange }: DateFieldProps): ReactNode {
  return (
    <label className="flex items-center gap-2">
      <span className="shrink-0 text-xs text-soft">{label}</span>
      <input
        type="date"
        className="field w-auto!"
        value={value}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      />
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <label className="flex max-w-full items-center gap-2">
      <span className="shrink-0 text-xs text-soft">{label}</span>
      <select
        className="field w-auto! min-w-0"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {options.map(({ value: each, label: text }) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Shown(): ReactNode {
  const t = useTranslations('deliverability');
  const { granularity = 'day', group_by: by, group } = deliverabilityRoute.useSearch();
  const range = useRange();
  const all = useDeliverability({ ...range, granularity });
  const grouped = useDeliverability({ ...range, granularity: 'total', group_by: by }, by !== undefined);
  const one = useDeliverability(
    { ...range, granularity, group_by: by },
    by !== undefined && group !== undefined,
  );
  if (all.data === undefined && all.error !== null)
    return (
      <>
        <Failure error={all.error} again={() => void all.refetch()} />
        <p className="text-soft">{t('rangeHint', { days: MOST_DAYS })}</p>
      </>
    );
  if (all.data === undefined) return <div aria-busy className="bones h-96" />;
  if (all.data.totals.sends === 0) return <Empty title={t('none')}>{t('noneLead')}</Empty>;
  const chosen = by === undefined ? undefined : group;
  const periods = chosen === undefined ? all.data.data : ofGroup(one.data?.data ?? [], all.data.data, chosen);
  const figures =
    chosen === undefined
      ? all.data.totals
      : grouped.data?.data.find((each) => groupKey(each.group) === chosen);
  return (
    <>
      {all.error !== null && <Failure error={all.error} again={() => void all.refetch()} />}
      {one.error !== null && <Failure error={one.error} again={() => void one.refetch()} />}
      {figures !== undefined && <Summary figures={figures} range={range} />}
      {granularity !== 'total' && <Charts periods={periods} granularity={granularity} />}
      {by !== undefined && <Groups by={by} read={grouped} range={range} />}
      <p className="text-xs text-soft">{t('notReported')}</p>
    </>
  );
}
