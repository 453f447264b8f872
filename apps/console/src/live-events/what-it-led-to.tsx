import type { ItemOf } from '@customer-platform/client';
import { useQuery } from '@tanstack/react-query';
import { CircleDot, Coins, Mail, ShieldCheck, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import type { StoredEvent } from './entry.ts';
import { Later } from './later.tsx';

type TimelineItem = ItemOf<'/v1/crm/contacts/{id}/timeline'>;

/** While an event is so young, more may follow from it. */
const FOLLOWED_MS = 60_000;
const ASKED_EVERY_MS = 2_000;
const MOST = 200;

const ICONS: Record<string, LucideIcon> = { consent: ShieldCheck, transaction: Coins, send: Mail };

/** What came of an event: everything of its correlation id in the contact's timeline, in the order it happened. */
export function WhatItLedTo({ event }: { event: StoredEvent }): ReactNode {
  const t = useTranslations('live-events');
  const { data, error, refetch } = useCaused(event);
  return (
    <section className="flex flex-col gap-3">
      <header>
        <h3 className="font-semibold">{t('ledTo')}</h3>
        <p className="text-soft">{t('causedLead')}</p>
      </header>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-16" />}
      {data !== undefined && data.unreachable.length > 0 && (
        <Note tone="warn">
          {t('unreachable', { names: data.unreachable.join(', ') })} <Again onClick={() => void refetch()} />
        </Note>
      )}
      {data?.items.length === 0 && data.unreachable.length === 0 && (
        <p className="text-soft">{t('nothingYet')}</p>
      )}
      {data !== undefined && data.items.length > 0 && (
        <ol className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {data.items.map((item) => (
            <Caused key={item.id} item={item} since={event.received_at} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Again({ onClick }: { onClick: () => void }): ReactNode {
  const t = useTranslations('ui');
  return <Button onClick={onClick}>{t('again')}</Button>;
}

function useCaused({ id: eventId, contact_id: id, correlation_id, received_at }: StoredEvent) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'event', eventId, 'caused'],
    refetchInterval: () => Date.now() - Date.parse(received_at) < FOLLOWED_MS && ASKED_EVERY_MS,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { correlation_id, limit: MOST } };
      const { data } = await api.GET('/v1/crm/contacts/{id}/timeline', { params, signal });
      const items = data.data.filter((item) => item.id !== eventId).reverse();
      return { items, unreachable: data.unreachable };
    },
  });
}

function Caused({ item, since }: { item: TimelineItem; since: string }): ReactNode {
  const Icon = ICONS[item.type] ?? CircleDot;
  const { state } = item.data as { state?: unknown };
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <Icon aria-hidden className="size-4 shrink-0 text-soft" />
      <bdi className="min-w-0 grow basis-40">{item.title}</bdi>
      {typeof state === 'string' && <Badge>{state}</Badge>}
      <Later from={since} to={item.occurred_at} />
    </li>
  );
}
