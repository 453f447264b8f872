import type { Source } from './fragments.js';

/** A place in a source: before it in time, or at the same time with a smaller id, is what still has to come. */
export interface Position {
  /** UTC with milliseconds. */
  readonly occurredAt: string;
  readonly id: string;
}

/** How far a walk has come in one fragment: not begun, at a position, or through. */
export type Progress = Position | 'start' | 'end';

/** What the order of the timeline looks at. */
export interface Placed extends Position {
  readonly source: Source;
}

/** Smaller than every id, and greater: no row has them (RFC 9562 §5.9, §5.10). */
const NIL = '00000000-0000-0000-0000-000000000000';
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The order of the timeline: time descending, source ascending, id descending. Negative: `a` comes first. */
export function compare(a: Placed, b: Placed): number {
  return (
    compareText(b.occurredAt, a.occurredAt) || compareText(a.source, b.source) || compareText(b.id, a.id)
  );
}

/** The order within one source: time descending, id descending. */
export function compareInSource(a: Position, b: Position): number {
  return compareText(b.occurredAt, a.occurredAt) || compareText(b.id, a.id);
}

/** Where a source has to go on once everything up to and with this item has been shown. */
export function positionAfter(shown: Placed, source: Source): Position {
  const { occurredAt } = shown;
  if (source === shown.source) return { occurredAt, id: shown.id };
  // At the very same time, sources that sort before the item's are through; those after it are all still to come.
  return { occurredAt, id: source < shown.source ? NIL : MAX };
}

/** The further of two positions: a walk never goes back. */
export function further(before: Progress, after: Position): Progress {
  if (before === 'start') return after;
  if (before === 'end') return 'end';
  return compareInSource(before, after) > 0 ? before : after;
}

/** Times of equal form sort as text; so do ids in lower case. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
