import type { Client } from '@customer-platform/client';
import {
  hashKey,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
  type QueryKey,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';
import { forgetWalk } from '../../ui/list-refresh.ts';
import { chainsOf, comingOf, united, type Chain, type Item, type Source } from './chains.ts';
import { unreachableSources, type UnreachableSource, type TimelinePage } from './unreachable-sources.ts';

const PAGE = 100;
const HEAD = 50;
const FILL_PAGE = 200;
/** So many pages of a source are fetched at once to fetch what is missing; the rest comes with the next scroll. */
const FILL_PAGES = 10;
const NEW_ONES_EVERY_MS = 8_000;
const COMING_EVERY_MS = 2_000;
const SILENT_EVERY_MS = 5_000;

/** What filters a timeline; it stands in the address. */
export interface TimelineFilters {
  source?: Source;
  type?: Item['type'];
}

export interface Timeline {
  chains: readonly Chain[];
  items: readonly Item[];
  unreachable: readonly UnreachableNow[];
  /** Until when events are missing for good; undefined: none that is known of. */
  removedUntil: string | undefined;
  loading: boolean;
  error: unknown;
  hasMore: boolean;
  loadingMore: boolean;
  /** By the platform's clock. */
  now: number;
  more: () => void;
  again: () => void;
}

/** A source that does not answer, asked again by itself. */
export interface UnreachableNow extends UnreachableSource {
  asking: boolean;
  ask: () => void;
}

interface Head {
  page: TimelinePage;
  now: number;
}

type Query = TimelineFilters & Record<string, unknown>;

/** One page of the timeline, and what the platform's clock says. */
export async function readTimeline(
  api: Client,
  id: string,
  query: Query,
  signal: AbortSignal,
): Promise<Head> {
  const answer = await api.GET('/v1/crm/contacts/{id}/timeline', { params: { path: { id }, query }, signal });
  const date = Date.parse(answer.headers.get('date') ?? '');
  return {
    // `data` of an item is what its source answers for it.
    page: answer.data as unknown as TimelinePage,
    now: Number.isNaN(date) ? Date.now() : date,
  };
}

/** A contact's timeline: grows downwards by its cursor, upwards as things happen, and where a silent source answers. */
export function useTimeline(id: string, filters: TimelineFilters): Timeline {
  const api = useApi();
  const { organization } = usePerson();
  const cache = useQueryClient();
  const key = [organization.id, 'contacts', id, 'timeline', filters];
  const walk = useInfiniteQuery({
    queryKey: [...key, 'walk'],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filters, limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) };
      return (await readTimeline(api, id, query, signal)).page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page }: TimelinePage) => page.next_cursor ?? undefined,
    // Comparing a hundred thousand items with themselves costs more than drawing the twenty in sight.
    structuralSharing: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const head = useHead(id, filters, [...key, 'head'], walk.isSuccess);
  const pages = walk.data?.pages ?? NONE;
  const walked = useMemo(() => pages.flatMap(({ data }) => data), [pages]);
  const { unreachable, filled } = useFilled(id, filters, key, pages);
  const top = head.data?.page.data ?? NO_ITEMS;
  const { refetch } = walk;
  const gap = isGapBetween(top, walked);
  const hash = hashKey([...key, 'walk']);
  const anew = useCallback(
    () => void forgetWalk(cache, JSON.parse(hash) as QueryKey).then(() => refetch()),
    [cache, hash, refetch],
  );
  useEffect(() => {
    // More has happened than one look at the newest shows: the walk begins anew, with its first page alone.
    if (gap) anew();
  }, [gap, anew]);
  const items = useMemo(() => united(walked, filled, top), [walked, filled, top]);
  const chains = useMemo(() => chainsOf(items), [items]);
  return {
    chains,
    items,
    unreachable,
    removedUntil: pages.findLast(({ gaps = [] }) => gaps.length > 0)?.gaps?.[0]?.until,
    loading: walk.isPending,
    error: walk.error,
    hasMore: walk.hasNextPage,
    loadingMore: walk.isFetchingNextPage,
    // Until the platform has told its time, nothing is taken as fresh.
    now: head.data?.now ?? Infinity,
    more: () => void (walk.hasNextPage && !walk.isFetching && walk.fetchNextPage()),
    again: () => (walk.isFetchNextPageError ? void walk.fetchNextPage() : anew()),
  };
}

const NONE: TimelinePage[] = [];
const NO_ITEMS: Item[] = [];

/** Between the newest items and those that were walked there may be others. */
function isGapBetween(top: readonly Item[], walked: readonly Item[]): boolean {
  const oldest = top.at(-1)?.occurred_at;
  const newest = walked[0]?.occurred_at;
  return top.length === HEAD && oldest !== undefined && (newest === undefined || oldest > newest);
}

/** The newest items, asked for again and again: often while something is on its way. */
function useHead(id: string, filters: TimelineFilters, queryKey: unknown[], enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey,
    enabled,
    queryFn: ({ signal }) => readTimeline(api, id, { ...filters, limit: HEAD }, signal),
    refetchInterval: ({ state: { data } }) => {
      const coming = chainsOf(data?.page.data ?? []).some((chain) => {
        const { mayFollow, inFlight } = comingOf(chain, data?.now ?? 0);
        return mayFollow || inFlight > 0;
      });
      return coming ? COMING_EVERY_MS : NEW_ONES_EVERY_MS;
    },
  });
}

/** What silent sources have answered since, and those that still do not. */
function useFilled(
  id: string,
  filters: TimelineFilters,
  key: unknown[],
  pages: readonly TimelinePage[],
): { unreachable: UnreachableNow[]; filled: Item[] } {
  const api = useApi();
  const found = useMemo(() => unreachableSources(pages), [pages]);
  const { filled, asked } = useQueries({
    queries: found.map(({ source, since }) => ({
      queryKey: [...key, 'fill', source, since],
      queryFn: ({ signal }: { signal: AbortSignal }) => fill(api, id, { ...filters, source }, since, signal),
      structuralSharing: false,
      staleTime: Infinity,
      retry: false,
      refetchInterval: ({ state }: { state: { status: string } }) =>
        state.status === 'success' ? (false as const) : SILENT_EVERY_MS,
    })),
    combine: answersOf,
  });
  const unreachable = useMemo(
    () =>
      found.flatMap((missing, index) => {
        const query = asked[index];
        if (query === undefined || query.answered) return [];
        return [{ ...missing, asking: query.asking, ask: () => void query.ask() }];
      }),
    [found, asked],
  );
  return { unreachable, filled };
}

function answersOf(queries: readonly UseQueryResult<Item[]>[]) {
  return {
    filled: queries.flatMap(({ data }) => data ?? []),
    asked: queries.map(({ isSuccess, isFetching, refetch }) => ({
      answered: isSuccess,
      asking: isFetching,
      ask: refetch,
    })),
  };
}

async function fill(
  api: Client,
  id: string,
  query: Query & { source: Source },
  since: string | undefined,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < FILL_PAGES && cursor !== null; pages += 1) {
    const asked: Query = {
      ...query,
      limit: FILL_PAGE,
      ...(since === undefined ? {} : { 'occurred_at[gte]': since }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const { page: answer } = await readTimeline(api, id, asked, signal);
    if (answer.unreachable.includes(query.source)) throw new Error(`${query.source} did not answer`);
    items.push(...answer.data);
    cursor = answer.page.next_cursor;
  }
  return items;
}
