import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Time } from '../../ui/time.tsx';
import type { Try } from './use-deliveries.ts';

const ERRORS = [
  'connection_failed',
  'destination_not_allowed',
  'endpoint_disabled',
  'erased',
  'name_not_resolved',
  'not_permitted',
  'redirect_not_followed',
  'status_not_2xx',
  'timeout',
  'tls_failed',
] as const;

/** What an error of a try means; a word that is not known here as it is. */
export function useErrorWord(): (error: string) => string {
  const t = useTranslations('developers');
  return (error) => {
    const known = ERRORS.find((one) => one === error);
    return known === undefined ? error : t(`hooks.errors.${known}`);
  };
}

/** All that was tried, the oldest first. */
export function DeliveryAttempts({ tries }: { tries: readonly Try[] }): ReactNode {
  const t = useTranslations('developers');
  const word = useErrorWord();
  if (tries.length === 0) return <p className="text-soft">{t('hooks.tries', { count: 0 })}</p>;
  return (
    <ol className="flex flex-col gap-1 text-xs" aria-label={t('hooks.allTries')}>
      {tries.map((one) => (
        <li key={one.at} className="flex flex-wrap gap-x-3">
          <Time at={one.at} />
          <span className={one.error === null ? 'text-good' : 'text-bad'}>
            {one.status !== null && `HTTP ${one.status}`}
            {one.status !== null && one.error !== null && ' · '}
            {one.error !== null && word(one.error)}
          </span>
          <span className="text-soft tabular-nums">{t('hooks.took', { ms: one.ms })}</span>
        </li>
      ))}
    </ol>
  );
}
