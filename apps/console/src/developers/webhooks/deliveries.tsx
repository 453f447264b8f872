import { RotateCcw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Detail, Details, Id } from '../../ui/details.tsx';
import { Filters, FilterSelect } from '../../ui/filters.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { DeliveryAttempts, useErrorWord } from './delivery-attempts.tsx';
import {
  DELIVERY_STATES,
  useDeliveries,
  useRedeliver,
  type Delivery,
  type DeliveryState,
} from './use-deliveries.ts';
import type { Endpoint } from './use-endpoints.ts';

const TONES = { pending: 'warn', delivered: 'good', failed: 'bad', paused: 'neutral' } as const;

/** What was told to an endpoint, the newest first, with every try. */
export function Deliveries({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const t = useTranslations('developers');
  const [state, setState] = useState<DeliveryState>();
  const list = useDeliveries(endpoint.id, state);
  return (
    <section className="flex flex-col gap-3" aria-label={t('hooks.deliveries')}>
      <h3 className="font-semibold">{t('hooks.deliveries')}</h3>
      <Filters>
        <FilterSelect
          label={t('state')}
          value={state}
          onChange={(value) => setState(DELIVERY_STATES.find((one) => one === value))}
          options={DELIVERY_STATES.map((value) => ({ value, label: t(`hooks.deliveryStates.${value}`) }))}
        />
      </Filters>
      {list.error !== null && <Failure error={list.error} again={list.again} />}
      {list.loading && <div aria-busy className="bones h-24" />}
      {!list.loading && list.items.length === 0 && list.error === null && (
        <p className="text-soft">
          {t(state === undefined ? 'hooks.noDeliveries' : 'hooks.noSuchDeliveries')}
        </p>
      )}
      {list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {list.items.map((delivery) => (
            <Delivered key={delivery.id} delivery={delivery} enabled={endpoint.enabled} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div>
          <Button busy={list.loadingMore} onClick={list.more}>
            {t('hooks.older')}
          </Button>
        </div>
      )}
    </section>
  );
}

function Delivered({ delivery, enabled }: { delivery: Delivery; enabled: boolean }): ReactNode {
  const t = useTranslations('developers');
  const { type, state, tries, status_code: status, error, created_at, next_attempt_at } = delivery;
  const word = useErrorWord();
  return (
    <li>
      <details>
        <summary className="flex cursor-pointer flex-col gap-1 px-3 py-2">
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge tone={TONES[state]}>{t(`hooks.deliveryStates.${state}`)}</Badge>
            <code className="min-w-0 grow font-mono text-xs break-all">{type}</code>
            <Time at={created_at} relative />
          </span>
          <span className="text-xs text-soft">
            {t('hooks.tries', { count: tries.length })}
            {status !== null && ` · HTTP ${status}`}
            {error !== null && ` · ${word(error)}`}
            {next_attempt_at !== null && (
              <>
                {' · '}
                {t('hooks.nextTry')} <Time at={next_attempt_at} relative />
              </>
            )}
          </span>
        </summary>
        <div className="flex flex-col gap-3 px-3 pb-3">
          <Details>
            <Detail name={t('hooks.webhookId')}>
              <Id value={delivery.event_id} />
            </Detail>
            <Detail name={t('hooks.happened')}>
              <Time at={created_at} />
            </Detail>
          </Details>
          <DeliveryAttempts tries={tries} />
          <Redeliver delivery={delivery} enabled={enabled} />
        </div>
      </details>
    </li>
  );
}

function Redeliver({ delivery: { id }, enabled }: { delivery: Delivery; enabled: boolean }): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { mutate, isPending, isSuccess, error } = useRedeliver();
  if (!may('messaging.webhooks.update')) return null;
  if (!enabled) return <p className="text-xs text-soft">{t('hooks.redeliverWhenOn')}</p>;
  return (
    <>
      {error !== null && <Failure error={error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button busy={isPending} onClick={() => mutate(id)}>
          <RotateCcw aria-hidden className="size-4" />
          {t('hooks.redeliver')}
        </Button>
        <span role="status" className="text-xs text-soft">
          {isSuccess && t('hooks.redelivered')}
        </span>
      </div>
    </>
  );
}
