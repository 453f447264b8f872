import { get, type Platform } from '@customer-platform/kit/platform.ts';

/** A page as far as a walk looks at it. */
interface Page {
  data: Record<string, unknown>[];
  page: { next_cursor: string | null };
  unreachable?: string[];
}

/** What a walk to the end of a list saw. */
interface Walked {
  /** Different items. */
  items: number;
  /** Items that came again. */
  repeated: number;
  /** Paths of the pages asked for, by their number. */
  pages: Map<number, string>;
}

/** How often a page is asked for whose sources did not all answer in time: the same cursor completes it. */
const TRIES = 10;
/** The longest page: a cursor is bound to filters and order, not to the limit. */
const STEP = 200;

/**
 * Walks a list from its beginning to its end, which takes a while.
 * @param key the item's field that is its own
 * @param wanted numbers of pages, of `size` items, whose paths are to be answered
 * @throws Error when a source of the list stays unreachable
 */
export async function walk(
  platform: Platform,
  path: string,
  { key, size, wanted }: { key: string; size: number; wanted: readonly number[] },
): Promise<Walked> {
  const seen = new Set<unknown>();
  const pages = new Map<number, string>();
  let [passed, query] = [0, ''];
  for (;;) {
    const due = wanted.filter((page) => (page - 1) * size >= passed);
    for (const page of due)
      if ((page - 1) * size === passed) pages.set(page, `${path}?limit=${size}${query}`);
    const next = due.map((page) => (page - 1) * size - passed).filter((distance) => distance > 0);
    const limit = Math.min(STEP, ...next);
    const { data, page } = await wholePage(platform, `${path}?limit=${limit}${query}`);
    data.forEach((item) => seen.add(item[key]));
    passed += data.length;
    if (page.next_cursor === null) return { items: seen.size, repeated: passed - seen.size, pages };
    query = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

async function wholePage(platform: Platform, path: string): Promise<Page> {
  for (let attempt = 1; ; attempt += 1) {
    const page = await get<Page>(platform, path);
    const { unreachable = [] } = page;
    if (unreachable.length === 0) return page;
    if (attempt === TRIES) throw new Error(`${unreachable.join(', ')} did not answer during the walk.`);
  }
}
