import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import type { UsagePeriod } from './usage.ts';

const PARTS = ['stored', 'duplicates', 'dead_lettered', 'pending'] as const;

/** accepted = stored + duplicates + dead-lettered + pending: no event is anywhere else. */
export function Conservation({ counts }: { counts: UsagePeriod['events'] }): ReactNode {
  const t = useTranslations('home');
  const { number } = useFormatter();
  return (
    <div className="rounded-panel border border-line p-4">
      <dl className="flex flex-wrap items-end gap-x-3 gap-y-4">
        <Figure name={t('counts.accepted')} count={number(counts.accepted)} large />
        {PARTS.map((part, at) => (
          <Figure
            key={part}
            sign={at === 0 ? '=' : '+'}
            name={t(`counts.${part}`)}
            count={number(counts[part])}
            bad={part === 'dead_lettered' && counts[part] > 0}
          />
        ))}
      </dl>
      <p className="mt-3 text-xs text-soft">{t('refused', { count: counts.refused })}</p>
    </div>
  );
}

interface FigureProps {
  name: string;
  count: string;
  sign?: string;
  large?: boolean;
  bad?: boolean;
}

function Figure({ name, count, sign, large = false, bad = false }: FigureProps): ReactNode {
  return (
    <div className="flex flex-col-reverse">
      <dt className={`text-xs text-soft ${sign === undefined ? '' : 'pl-3.5'}`}>{name}</dt>
      <dd
        className={`flex items-baseline font-semibold tabular-nums ${large ? 'text-xl' : 'text-base'} ${bad ? 'text-bad' : ''}`}
      >
        {sign !== undefined && (
          <span aria-hidden className="w-3.5 font-normal text-soft">
            {sign}
          </span>
        )}
        {count}
      </dd>
    </div>
  );
}
