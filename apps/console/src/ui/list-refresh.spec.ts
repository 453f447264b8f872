import { focusManager, InfiniteQueryObserver, onlineManager, QueryClient } from '@tanstack/react-query';
import { forgetWalk, refreshOf } from './list-refresh.ts';

const KEY = ['things'];

interface Page {
  rows: number[];
  next: number | undefined;
}

let client: QueryClient;
let asked: (number | undefined)[];

beforeEach(() => {
  client = new QueryClient();
  client.mount();
  asked = [];
});
afterEach(() => {
  client.clear();
  client.unmount();
  focusManager.setFocused(undefined);
  onlineManager.setOnline(true);
});

const optionsOf = (interval: number | false) => ({
  queryKey: KEY,
  queryFn: ({ pageParam }: { pageParam: number | undefined }): Page => {
    asked.push(pageParam);
    return { rows: [pageParam ?? 0], next: (pageParam ?? 0) + 1 };
  },
  initialPageParam: undefined as number | undefined,
  getNextPageParam: ({ next }: Page) => next,
  ...refreshOf(interval),
});

/** A list with so many pages that somebody looks at; `end` looks away. */
async function opened(pages: number) {
  const list = new InfiniteQueryObserver(client, optionsOf(false));
  const end = list.subscribe(() => undefined);
  await list.refetch();
  for (let page = 1; page < pages; page += 1) await list.fetchNextPage();
  asked = [];
  return { list, end };
}

async function settled(): Promise<void> {
  while (client.isFetching() > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function comesBack(): Promise<void> {
  focusManager.setFocused(false);
  focusManager.setFocused(true);
  onlineManager.setOnline(false);
  onlineManager.setOnline(true);
  await settled();
}

describe('a list that grows', () => {
  it('is read again when one comes back to it while it is one page', async () => {
    const { end } = await opened(1);
    await comesBack();
    expect(new Set(asked)).toEqual(new Set([undefined]));
    end();
  });

  it('asks for none of its pages by itself once there are several', async () => {
    const { end } = await opened(3);
    await comesBack();
    expect(asked).toEqual([]);
    end();
  });

  it('is asked for at intervals only while it is one page', async () => {
    const { refetchInterval } = refreshOf(5_000);
    expect(refetchInterval({ state: {} })).toBe(5_000);
    await opened(1);
    expect(refetchInterval(client.getQueryCache().find({ queryKey: KEY }) ?? { state: {} })).toBe(5_000);
    await opened(2);
    expect(refetchInterval(client.getQueryCache().find({ queryKey: KEY }) ?? { state: {} })).toBe(false);
  });

  it('begins anew with one page, and shows that page meanwhile', async () => {
    const { list, end } = await opened(3);
    await forgetWalk(client, KEY);
    expect(list.getCurrentResult().data?.pages.map(({ rows }) => rows)).toEqual([[0]]);
    await list.refetch();
    expect(asked).toEqual([undefined]);
    end();
  });

  it('is read again as one page by whoever opens it next', async () => {
    const { end } = await opened(3);
    end();
    await forgetWalk(client, KEY);
    const next = new InfiniteQueryObserver(client, { ...optionsOf(false), staleTime: Infinity });
    const leave = next.subscribe(() => undefined);
    await settled();
    expect(asked).toEqual([undefined]);
    leave();
  });

  it('that was never read is left alone', async () => {
    await forgetWalk(client, ['nothing']);
    expect(client.getQueryCache().getAll()).toEqual([]);
  });
});
