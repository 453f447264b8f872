import { useQuery } from '@tanstack/react-query';
import { createElement, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { usePerson } from '../session/use-session.tsx';
import { inTurn, takenUpAt, type Item } from '../contacts/timeline/chains.ts';
import { readTimeline } from '../contacts/timeline/use-timeline.ts';
import { iconOf, toneOf, useWords } from '../contacts/timeline/words.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { TimeDifference } from '../ui/time-difference.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import type { StoredEvent } from './entry.ts';

/** While an event is so young, more may follow from it. */
const FOLLOWED_MS = 60_000;
const ASKED_EVERY_MS = 2_000;
const MOST = 200;

interface Effects {
  items: Item[];
  unreachable: string[];
  /** The platform's clock when it answered, ms. */
  now: number;
}

/** What came of an event: everything of its correlation id in the contact's timeline, in the order it was taken up. */
export function EventEffects({ event }: { event: StoredEvent }): ReactNode {
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
  return useQuery<Effects>({
    queryKey: [organization.id, 'event', eventId, 'caused'],
    // By the platform's clock: the reader's may be wrong.
    refetchInterval: ({ state: { data } }) =>
      (data === undefined || data.now - Date.parse(received_at) < FOLLOWED_MS) && ASKED_EVERY_MS,
    queryFn: async ({ signal }) => {
      const { page, now } = await readTimeline(api, id, { correlation_id, limit: MOST }, signal);
      const items = page.data.filter((item) => item.id !== eventId).sort(inTurn);
      return { items, unreachable: page.unreachable, now };
    },
  });
}

function Caused({ item, since }: { item: Item; since: string }): ReactNode {
  const words = useWords();
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      {createElement(iconOf(item), { 'aria-hidden': true, className: 'size-4 shrink-0 text-soft' })}
      <span dir="auto" className="min-w-0 grow basis-40 break-words">
        {words.title(item)}
      </span>
      {item.type === 'send' && <Badge tone={toneOf(item.data.state)}>{words.state(item.data.state)}</Badge>}
      <TimeDifference ms={Date.parse(takenUpAt(item)) - Date.parse(since)} />
    </li>
  );
}
