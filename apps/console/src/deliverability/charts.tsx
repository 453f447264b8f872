import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { StackedBars } from '../ui/stacked-bars.tsx';
import type { Granularity, Period } from './deliverability.ts';

const DAY = { dateStyle: 'medium', timeZone: 'UTC' } as const;
const HOUR = { dateStyle: 'short', timeStyle: 'short', timeZone: 'UTC' } as const;

interface ChartsProps {
  periods: readonly Period[];
  granularity: Granularity;
}

/** What became of sends, period by period; and apart, for they are few, what harms who sends. */
export function Charts({ periods, granularity }: ChartsProps): ReactNode {
  const t = useTranslations('deliverability');
  const format = useFormatter();
  const named = ({ period_start: start }: Period): string =>
    format.dateTime(new Date(start), granularity === 'hour' ? HOUR : DAY);
  const barsOf = (counts: (period: Period) => number[]) =>
    periods.map((period) => ({
      key: period.period_start,
      name: named(period),
      counts: counts(period),
    }));
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <StackedBars
        label={t('charts.outcome')}
        of={t('period')}
        parts={[
          { name: t('charts.received'), tone: 'good' },
          { name: t('charts.handedOver'), tone: 'accent' },
          { name: t('charts.held'), tone: 'edge' },
        ]}
        bars={barsOf(({ sends, handed_over: handed, received }) => [
          received,
          handed - received,
          sends - handed,
        ])}
      />
      <StackedBars
        label={t('charts.harm')}
        of={t('period')}
        parts={[
          { name: t('rates.bounced'), tone: 'bad' },
          { name: t('rates.complained'), tone: 'warn' },
        ]}
        bars={barsOf(({ counts }) => [counts.bounced, counts.complained])}
      />
    </div>
  );
}
