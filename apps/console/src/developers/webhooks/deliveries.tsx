import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';
import type { Endpoint } from './use-endpoints.ts';

type Delivery = Endpoint['recent_deliveries'][number];

const TONES = { pending: 'warn', delivered: 'good', failed: 'bad' } as const;

/** The last deliveries to an endpoint, the newest first. */
export function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }): ReactNode {
  const t = useTranslations('developers');
  return (
    <section className="flex flex-col gap-3">
      <h3 className="font-semibold">{t('hooks.deliveries')}</h3>
      {deliveries.length === 0 ? (
        <p className="text-soft">{t('hooks.noDeliveries')}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {deliveries.map((delivery) => (
            <Delivered key={delivery.event_id} delivery={delivery} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Delivered({ delivery }: { delivery: Delivery }): ReactNode {
  const t = useTranslations('developers');
  const { type, state, attempts, status_code, error, attempted_at, created_at, next_attempt_at } = delivery;
  return (
    <li className="flex flex-col gap-1 px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={TONES[state]}>{t(`hooks.deliveryStates.${state}`)}</Badge>
        <code className="grow font-mono text-xs">{type}</code>
        <Time at={attempted_at ?? created_at} relative />
      </div>
      <p className="text-xs text-soft">
        {t('hooks.tries', { count: attempts })}
        {status_code !== null && ` · HTTP ${status_code}`}
        {error !== null && (
          <>
            {' · '}
            <bdi>{error}</bdi>
          </>
        )}
        {next_attempt_at !== null && (
          <>
            {' · '}
            {t('hooks.nextTry')} <Time at={next_attempt_at} relative />
          </>
        )}
      </p>
    </li>
  );
}
