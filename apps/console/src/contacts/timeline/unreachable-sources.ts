import type { Item, Source } from './chains.ts';

/** A page of the timeline, with the sources that did not answer for it. */
export interface TimelinePage {
  data: Item[];
  page: { limit: number; next_cursor: string | null };
  unreachable: Source[];
  /** What a source has removed, its time being over. */
  gaps?: { source: Source; type: Item['type']; until: string }[];
}

/** A source of which the pages lack items. */
export interface UnreachableSource {
  source: Source;
  /** The first instant, from the newest on, from which it is silent; undefined: from the beginning. */
  before: string | undefined;
  /** The oldest instant that is shown; undefined: everything is. */
  since: string | undefined;
}

/**
 * The sources that were silent up to the last page that was read. One that answered for a later page is none of them:
 * the cursor keeps its place, so that the later page brought what the earlier one lacked.
 */
export function unreachableSources(pages: readonly TimelinePage[]): UnreachableSource[] {
  const last = pages.at(-1);
  if (last === undefined) return [];
  const since = last.page.next_cursor === null ? undefined : last.data.at(-1)?.occurred_at;
  return last.unreachable.map((source) => {
    const answered = pages.findLastIndex(({ unreachable }) => !unreachable.includes(source));
    const before = answered === -1 ? undefined : pages[answered]?.data.at(-1)?.occurred_at;
    return { source, before, since };
  });
}
