import { hashKey, useInfiniteQuery, useQuery, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { usePerson } from '../session/use-session.tsx';
import { forgetWalk, refreshOf } from './list-refresh.ts';

/** A page as every list of the API answers it. */
export interface ListPage<Item> {
  data: Item[];
  page: { limit: number; next_cursor: string | null };
}

/** A list that grows by its cursor as one scrolls. */
export interface List<Item> {
  items: readonly Item[];
  /** Nothing is known yet. */
  loading: boolean;
  error: unknown;
  hasMore: boolean;
  loadingMore: boolean;
  /** Its beginning is another by now than what is shown: several pages do not change under whoever reads them. */
  outdated?: boolean;
  more: () => void;
  /** From the beginning. */
  again: () => void;
}

interface ListOptions {
  enabled?: boolean;
  /** Asks for its beginning again so often, in ms, while the page is looked at. */
  refetchInterval?: number | false;
}

type Load<Item> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>;

/** A list of the organization; `key` holds what it is of and all that filters it. */
export function useList<Item>(key: QueryKey, load: Load<Item>, options: ListOptions = {}): List<Item> {
  const { organization } = usePerson();
  const cache = useQueryClient();
  const queryKey = [organization.id, ...key];
  const { enabled = true, refetchInterval = false } = options;
  const walk = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page }) => page.next_cursor ?? undefined,
    enabled,
    ...refreshOf(refetchInterval),
  });
  const pages = walk.data?.pages ?? [];
  const [first] = pages;
  const mark = useMemo(() => JSON.stringify(first?.data), [first]);
  const head = useQuery({
    // Of this first page: with another one it begins anew.
    queryKey: [...queryKey, 'beginning', mark],
    queryFn: async ({ signal }) => JSON.stringify((await load(undefined, signal)).data),
    enabled: enabled && pages.length > 1,
    ...(mark === undefined ? {} : { initialData: mark, initialDataUpdatedAt: walk.dataUpdatedAt }),
    refetchInterval,
    gcTime: 0,
  });
  const hash = hashKey(queryKey);
  useEffect(
    // Whoever comes back is at the top again: the rest of the way is neither kept nor read anew.
    () => () => void forgetWalk(cache, JSON.parse(hash) as QueryKey),
    [cache, hash],
  );
  return {
    items: pages.flatMap(({ data }) => data),
    loading: walk.isPending,
    error: walk.error,
    hasMore: walk.hasNextPage,
    loadingMore: walk.isFetchingNextPage,
    outdated: pages.length > 1 && !walk.isFetching && head.data !== mark,
    more: () => void (walk.hasNextPage && !walk.isFetching && walk.fetchNextPage()),
    again: () => {
      // What failed while it grew is its next page; else it begins anew, without all that was scrolled through.
      if (walk.isFetchNextPageError) void walk.fetchNextPage();
      else void forgetWalk(cache, queryKey).then(() => walk.refetch());
    },
  };
}
