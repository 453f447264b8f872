import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { usePerson } from '../session/use-session.tsx';

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
  more: () => void;
  again: () => void;
}

interface ListOptions {
  enabled?: boolean;
  /** Asks again so often, in ms, while the page is looked at. */
  refetchInterval?: number;
}

/** A list of the organization; `key` holds what it is of and all that filters it. */
export function useList<Item>(
  key: QueryKey,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  options: ListOptions = {},
): List<Item> {
  const { organization } = usePerson();
  const query = useInfiniteQuery({
    queryKey: [organization.id, ...key],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page }) => page.next_cursor ?? undefined,
    ...options,
  });
  return {
    items: query.data?.pages.flatMap(({ data }) => data) ?? [],
    loading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadingMore: query.isFetchingNextPage,
    more: () => void (query.hasNextPage && !query.isFetching && query.fetchNextPage()),
    again: () => void query.refetch(),
  };
}
