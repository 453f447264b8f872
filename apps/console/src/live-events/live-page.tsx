import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useRef, useState, type FocusEvent, type ReactNode, type UIEvent } from 'react';
import { useTranslations } from 'use-intl';
import { useAddressBeside } from '../ui/address-beside.ts';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Empty, Failure, Note } from '../ui/notices.tsx';
import type { Entry } from './entry.ts';
import { useEntryColumns } from './event-cells.tsx';
import { EventsFrame, ToEarlier } from './events-frame.tsx';
import { KEPT, type Connection, type LiveView } from './live-buffer.ts';
import type { EventsSearch } from './search-params.ts';
import { useLiveEvents } from './use-live-events.ts';

const eventsRoute = getRouteApi('/o/$organization/events');
const EventPanel = lazyPart(async () => (await import('./event-panel.tsx')).EventPanel);

/** So far from its top a list is being read, and does not move under the eyes. */
const READING_PX = 8;

/** The organization's events as they come. */
export function LivePage(): ReactNode {
  const t = useTranslations('live-events');
  const search = eventsRoute.useSearch();
  const navigate = eventsRoute.useNavigate();
  const [paused, setPaused] = useState(false);
  const change = (search: EventsSearch, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  return (
    <EventsFrame
      search={search}
      onFilter={change}
      actions={
        <Button onClick={() => setPaused(!paused)} aria-pressed={paused}>
          {paused ? <Play aria-hidden className="size-4" /> : <Pause aria-hidden className="size-4" />}
          {paused ? t('goOn') : t('pause')}
        </Button>
      }
    >
      <Live search={search} paused={paused} onOpen={(open) => change({ open }, false)} />
    </EventsFrame>
  );
}

interface LiveProps {
  search: EventsSearch;
  paused: boolean;
  onOpen: (idempotencyKey: string | undefined) => void;
}

function Live({ search, paused, onOpen }: LiveProps): ReactNode {
  const t = useTranslations('live-events');
  const columns = useEntryColumns({ clock: true });
  const { organization } = eventsRoute.useParams();
  const addressBeside = useAddressBeside();
  const openLetter = useOpenLetter();
  const lines = useRef<HTMLDivElement>(null);
  const { reading, handlers, stopReading } = useReading();
  const { type, open, ...filters } = search;
  const held = paused || reading || open !== undefined;
  const { view, again } = useLiveEvents(filters, held);
  const items = type === undefined ? view.entries : view.entries.filter((entry) => isOf(entry, type));
  const opened = items.find((entry) => entry.kind === 'recorded' && entry.event.idempotency_key === open);
  const goOn = (): void => {
    lines.current?.querySelector('[role=region]')?.scrollTo({ top: 0 });
    stopReading();
  };
  if (view.failure !== undefined) return <Failure error={view.failure} again={again} />;
  return (
    <div ref={lines} {...handlers} className="flex flex-col gap-3">
      {/* One line of one height: the list below it never moves under a finger. */}
      <div className="flex h-11 items-center gap-3">
        {held ? (
          <span role="status" className="min-w-0 truncate">
            <Badge tone="warn">{t(paused ? 'paused' : 'reading', { count: view.waiting })}</Badge>
          </span>
        ) : (
          <Connected connection={view.connection} />
        )}
        {held && !paused && <Button onClick={goOn}>{t('goOn')}</Button>}
      </div>
      <Left view={view} search={search} />
      <DataTable<Entry>
        label={t('liveLabel')}
        list={asList(view, items)}
        columns={columns}
        keyOf={({ key }) => key}
        chosen={opened?.key}
        addressOf={(entry) =>
          entry.kind === 'recorded'
            ? addressBeside(entry.event.idempotency_key)
            : `/o/${organization}/developers/dead-letters?open=${entry.letter.event_id}`
        }
        onOpen={(entry) => {
          if (entry.kind === 'recorded') onOpen(entry.event.idempotency_key);
          else openLetter(entry.letter.event_id);
        }}
        empty={<Empty title={t('empty')}>{t('emptyLead')}</Empty>}
      />
      {open !== undefined && (
        <EventPanel
          idempotencyKey={open}
          known={opened?.kind === 'recorded' ? opened.event : undefined}
          onClose={() => onOpen(undefined)}
        />
      )}
    </div>
  );
}

const TONES = { connecting: 'neutral', streamed: 'good', polled: 'good', lost: 'warn' } as const;

function Connected({ connection }: { connection: Connection }): ReactNode {
  const t = useTranslations('live-events');
  return (
    <span role="status">
      <Badge tone={TONES[connection]}>{t(`connection.${connection}`)}</Badge>
    </span>
  );
}

/** What came and is not in the list. */
function Left({ view, search }: { view: LiveView; search: EventsSearch }): ReactNode {
  const t = useTranslations('live-events');
  if (!view.missed && view.letGo === 0) return null;
  return (
    <Note>
      {view.missed ? t('missed') : t('letGo', { count: view.letGo, kept: KEPT })}{' '}
      <ToEarlier search={search} />
    </Note>
  );
}

function asList(view: LiveView, items: readonly Entry[]) {
  const nothing = (): void => undefined;
  return {
    items,
    loading: view.connection === 'connecting' && view.entries.length === 0,
    error: undefined,
    hasMore: false,
    loadingMore: false,
    more: nothing,
    again: nothing,
  };
}

function isOf(entry: Entry, type: string): boolean {
  return entry.kind === 'recorded' && entry.event.type === type;
}

/** Whether the list is being read: scrolled away from its top, or gone through by keyboard. */
function useReading() {
  const [scrolled, setScrolled] = useState(false);
  const [inRow, setInRow] = useState(false);
  const isRow = ({ target }: FocusEvent): boolean =>
    (target as HTMLElement).closest('tr[data-index]') !== null;
  return {
    reading: scrolled || inRow,
    handlers: {
      onScrollCapture: ({ target }: UIEvent) => setScrolled((target as HTMLElement).scrollTop > READING_PX),
      onFocusCapture: (event: FocusEvent) => setInRow(isRow(event)),
      onBlurCapture: () => setInRow(false),
    },
    stopReading: () => {
      setScrolled(false);
      setInRow(false);
    },
  };
}

/** To the page that has the cause of a failure. */
function useOpenLetter(): (eventId: string) => void {
  const navigate = useNavigate();
  const { organization } = eventsRoute.useParams();
  return (open) =>
    void navigate({
      to: '/o/$organization/developers/dead-letters',
      params: { organization },
      search: { open },
    });
}
