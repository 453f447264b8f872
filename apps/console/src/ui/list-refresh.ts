import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';

/** What is in the memory of a list that grows by its cursor. */
interface Walk {
  state: { data?: unknown };
}

/**
 * How a list that grows by its cursor is read again by itself: react-query would ask for all of its pages, one after
 * the other, each time. Only while it is one page; beyond, its first page is watched beside (`useList`).
 */
export function refreshOf(refetchInterval: number | false) {
  const alone = (walk: Walk): boolean => pagesIn(walk.state.data) <= 1;
  return {
    refetchInterval: (walk: Walk) => (alone(walk) ? refetchInterval : false),
    refetchOnWindowFocus: alone,
    refetchOnReconnect: alone,
  };
}

/** Keeps only the first page of a list, as something to be read again: that is then one page. */
export async function forgetWalk(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  const data = cache.getQueryData<InfiniteData<unknown>>(queryKey);
  if (pagesIn(data) <= 1) return;
  cache.setQueryData<InfiniteData<unknown>>(
    queryKey,
    data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  await cache.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
}

function pagesIn(data: unknown): number {
  return (data as InfiniteData<unknown> | undefined)?.pages.length ?? 0;
}
