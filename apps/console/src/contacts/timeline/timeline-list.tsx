import { useVirtualizer } from '@tanstack/react-virtual';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { useFormatter, useNow, useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/notices.tsx';
import { ChainRow } from './chain-row.tsx';
import { dayOf, rowsOf, type Row } from './rows.ts';
import type { UnreachableNow, Timeline } from './use-timeline.ts';
import { useWords } from './words.tsx';

/** The heights of rows as they come out: a guess that is right spares measuring all rows below anew. */
const DAY_PX = 42;
const CHAIN_PX = 46;
/** On a phone what came of it stands in a second line. */
const CHAIN_WITH_OUTCOME_PX = 68;
const ROWS_BEYOND = 8;

interface TimelineListProps {
  contactId: string;
  timeline: Timeline;
  /** The key of the chain that is open. */
  open: string | undefined;
  onOpen: (key: string | undefined) => void;
  /** Shown where nothing has happened. */
  empty: ReactNode;
}

/** The timeline's rows; only those in sight are drawn, and the page itself scrolls. */
export function TimelineList({ contactId, timeline, open, onOpen, empty }: TimelineListProps): ReactNode {
  const t = useTranslations('contacts');
  const { chains, unreachable, hasMore, more } = timeline;
  const rows = useMemo(() => rowsOf(chains, unreachable), [chains, unreachable]);
  const list = useRef<HTMLOListElement>(null);
  const scrollMargin = useDistanceFromTop(list);
  const narrow = useSyncExternalStore(whenWidthChanges, isNarrow);
  // Asked for every row whenever it is another function: it changes only with what it tells.
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: scroller,
    estimateSize: (index) => heightOf(rows[index], narrow),
    getItemKey,
    overscan: ROWS_BEYOND,
    scrollMargin,
  });
  useLayoutEffect(() => virtual.measure(), [virtual, narrow]);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - ROWS_BEYOND) more();
  }, [hasMore, last, rows.length, more]);
  const toggle = useCallback((key: string) => onOpen(open === key ? undefined : key), [open, onOpen]);
  const go = (index: number): void => virtual.scrollToIndex(index, { align: 'auto' });
  return (
    <div>
      {chains.length === 0 && empty}
      <ol
        ref={list}
        aria-label={t('timeline.label')}
        className="relative empty:hidden"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={(event) => goThrough(event, rows, go)}
      >
        {shown.map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              {row.kind === 'day' && <Day at={row.at} />}
              {row.kind === 'unreachable' && <UnreachableNotice missing={row.missing} />}
              {row.kind === 'chain' && (
                <ChainRow
                  contactId={contactId}
                  chain={row.chain}
                  all={timeline.items}
                  now={timeline.now}
                  open={open === row.key}
                  onToggle={toggle}
                />
              )}
            </li>
          );
        })}
      </ol>
      {timeline.removedUntil !== undefined && !hasMore && <Removed until={timeline.removedUntil} />}
      {chains.length > 0 && (
        <Foot hasMore={hasMore} loading={timeline.loadingMore} error={timeline.error} more={more} />
      )}
    </div>
  );
}

const wide = window.matchMedia('(min-width: 40rem)');

function isNarrow(): boolean {
  return !wide.matches;
}

function whenWidthChanges(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}

function heightOf(row: Row<UnreachableNow> | undefined, narrow: boolean): number {
  if (row?.kind === 'day') return DAY_PX;
  return narrow && row?.kind === 'chain' && row.chain.items.length > 1 ? CHAIN_WITH_OUTCOME_PX : CHAIN_PX;
}

function scroller(): HTMLElement | null {
  return document.getElementById('content');
}

/** How far down the page the list begins; it moves as what is above it grows. */
function useDistanceFromTop(list: { current: HTMLElement | null }): number {
  const [distance, setDistance] = useState(0);
  useLayoutEffect(() => {
    const page = scroller();
    const element = list.current;
    if (page === null || element === null) return;
    const measure = (): void => {
      const top = element.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop;
      setDistance(Math.round(top));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(page);
    // Its place is known only once it shows something.
    observer.observe(element);
    // Whatever is above the list: the contact's header and the filters.
    for (let above: Element | null = element; above !== null && above !== page; above = above.parentElement)
      for (const sibling of above.parentElement?.children ?? [])
        if (sibling !== above) observer.observe(sibling);
    return () => observer.disconnect();
  }, [list]);
  return distance;
}

function Day({ at }: { at: string }): ReactNode {
  const t = useTranslations('contacts');
  const format = useFormatter();
  const now = useNow().getTime();
  const day = dayOf(at);
  const near =
    day === dayOf(new Date(now).toISOString())
      ? t('timeline.today')
      : day === dayOf(new Date(now - 86_400_000).toISOString())
        ? t('timeline.yesterday')
        : undefined;
  const date = format.dateTime(new Date(at), { dateStyle: 'full' });
  return (
    <h2 className="pt-5 pb-1 pl-2 text-xs font-medium text-soft">
      {near === undefined ? date : `${near} · ${date}`}
    </h2>
  );
}

/** A source that does not answer, told where its items are missing from. */
function UnreachableNotice({ missing }: { missing: UnreachableNow }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  return (
    <div
      role="status"
      className="my-2 flex flex-wrap items-center gap-3 rounded-panel bg-warn-soft px-4 py-2 text-warn"
    >
      <CircleAlert aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 grow basis-60">
        {t('timeline.silent', { source: words.source(missing.source) })}
      </p>
      <Button busy={missing.asking} onClick={missing.ask}>
        {t('timeline.askAgain')}
      </Button>
    </div>
  );
}

/** What was before is not there any more: nothing is said of whether there was anything. */
function Removed({ until }: { until: string }): ReactNode {
  const t = useTranslations('contacts');
  const format = useFormatter();
  const at = format.dateTime(new Date(until), { dateStyle: 'medium', timeStyle: 'short' });
  return <p className="pt-4 text-center text-xs text-soft">{t('timeline.removed', { at })}</p>;
}

/** At the foot of the list. */
function Foot({
  hasMore,
  loading,
  error,
  more,
}: {
  hasMore: boolean;
  loading: boolean;
  error: unknown;
  more: () => void;
}): ReactNode {
  const t = useTranslations('contacts');
  if (error != null) return <Failure error={error} again={more} />;
  if (!hasMore) return <p className="py-4 text-center text-xs text-soft">{t('timeline.end')}</p>;
  return (
    <div className="py-4 text-center">
      <Button look="quiet" busy={loading} onClick={more}>
        {loading && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
        {t('timeline.older')}
      </Button>
    </div>
  );
}

/** `j` and `k` move from chain to chain. */
function goThrough(
  event: KeyboardEvent<HTMLElement>,
  rows: readonly Row<UnreachableNow>[],
  scrollTo: (index: number) => void,
): void {
  const step = { j: 1, k: -1 }[event.key];
  const target = event.target as HTMLElement;
  const row = target.closest<HTMLElement>('li[data-index]');
  if (step === undefined || row === null || !('chain' in target.dataset)) return;
  let index = Number(row.dataset['index']) + step;
  while (rows[index] !== undefined && rows[index]?.kind !== 'chain') index += step;
  const next = row.parentElement?.querySelector<HTMLElement>(`li[data-index="${index}"] [data-chain]`);
  if (!next) return;
  event.preventDefault();
  scrollTo(index);
  next.focus();
}
