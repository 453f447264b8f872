import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { elapsedOf } from './elapsed.ts';

/** "1.2 s later": how much later one instant was than another. */
export function TimeDifference({ ms }: { ms: number }): ReactNode {
  const t = useTranslations('ui');
  const { unit, count } = elapsedOf(ms);
  return (
    <span className="text-xs whitespace-nowrap text-soft tabular-nums">{t(`after.${unit}`, { count })}</span>
  );
}
