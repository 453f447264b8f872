import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { spanOf } from './span.ts';

/** How much later one instant was than another. */
export function Later({ from, to }: { from: string; to: string }): ReactNode {
  const t = useTranslations('live-events');
  const { number } = useFormatter();
  const { value, unit } = spanOf(Date.parse(to) - Date.parse(from));
  const span = number(value, { style: 'unit', unit, unitDisplay: 'short' });
  return <span className="text-xs text-soft tabular-nums">{t('receivedAfter', { span })}</span>;
}
