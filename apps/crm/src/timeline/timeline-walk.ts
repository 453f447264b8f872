import { FRAGMENTS, type Fragment } from './fragments.js';
import type { PlacedItem } from './source-page.js';
import type { FragmentAnswer } from './source.client.js';
import { compare, further, positionAfter, type Progress } from './timeline-position.js';

/** How far a walk has come in every fragment. */
export type WalkState = ReadonlyMap<Fragment, Progress>;

/** A page of the timeline, and where the walk stands after it. */
interface WalkStep {
  readonly items: readonly PlacedItem[];
  /** Absent: the walk ends here. */
  readonly next?: WalkState;
}

/** The state of a walk that has not begun. */
export function walkFromStart(): WalkState {
  return new Map(FRAGMENTS.map((fragment) => [fragment, 'start']));
}

/** A walk's state as texts for a cursor, in the order of the fragments. */
export function encodeWalk(state: WalkState): (string | null)[] {
  return FRAGMENTS.map((fragment) => {
    const progress = state.get(fragment) ?? 'start';
    if (progress === 'start') return null;
    return progress === 'end' ? 'end' : `${progress.occurredAt} ${progress.id}`;
  });
}

/** The state that such texts tell; fragments that the cursor is older than have not begun. */
export function decodeWalk(texts: readonly (string | null)[]): WalkState {
  return new Map(FRAGMENTS.map((fragment, at) => [fragment, decode(texts[at] ?? null)]));
}

function decode(text: string | null): Progress {
  if (text === null) return 'start';
  if (text === 'end') return 'end';
  const [occurredAt = '', id = ''] = text.split(' ');
  return { occurredAt, id };
}

/**
 * Merges what the fragments answered into the next page. Afterwards every fragment that answered stands behind the
 * page's last item, whether it had a part in the page or not: what is inserted above later is not of this walk. A
 * fragment that was unreachable, or not asked, stays where it was, so that what it holds is not passed over. The walk
 * ends when no fragment that answered has more, and on a page of nothing, after which it would stand where it stood.
 */
export function step(
  before: WalkState,
  answers: ReadonlyMap<Fragment, FragmentAnswer>,
  limit: number,
): WalkStep {
  const pages = [...answers].flatMap(([fragment, answer]) =>
    answer.kind === 'page' ? [{ fragment, ...answer.page }] : [],
  );
  const items = mergeSorted(
    pages.map((page) => page.items),
    limit,
  );
  const last = items.at(-1);
  const shown = new Set(items);
  const next = new Map(before);
  let more = false;
  for (const page of pages) {
    const left = page.more || page.items.some((item) => !shown.has(item));
    more ||= left;
    const stood = before.get(page.fragment) ?? 'start';
    if (!left) next.set(page.fragment, 'end');
    else if (last) next.set(page.fragment, further(stood, positionAfter(last, page.fragment.source)));
  }
  return more && last ? { items, next } : { items };
}

/** The first `limit` items of lists that are each in the order of the timeline. */
function mergeSorted(lists: readonly (readonly PlacedItem[])[], limit: number): PlacedItem[] {
  const heads = lists.map((list) => ({ list, at: 0 }));
  const merged: PlacedItem[] = [];
  while (merged.length < limit) {
    let first: { item: PlacedItem; head: { at: number } } | undefined;
    for (const head of heads) {
      const item = head.list[head.at];
      if (item && (!first || compare(item, first.item) < 0)) first = { item, head };
    }
    if (!first) break;
    merged.push(first.item);
    first.head.at += 1;
  }
  return merged;
}
