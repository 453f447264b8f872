import { callerHasLeft } from '../observe/correlation.js';
import { RequestAborted } from '../reading/read-body.js';

/** When something that is begun again and again ends: after so many turns, after so long, or whichever is first. */
type End =
  { readonly most: number; readonly forMs?: number } | { readonly most?: number; readonly forMs: number };

/** How something is begun again. */
export type TurnsOptions = End & {
  /** Rest before the next turn, in milliseconds, or that by how many turns were made; default: none. */
  readonly pauseMs?: number | ((made: number) => number);
  /** Milliseconds of a clock; default `performance.now`. */
  readonly now?: () => number;
};

/** One of the turns. */
export interface Turn {
  /** The first is 1. */
  readonly count: number;
  /** No other comes behind it: whatever keeps it from its end is to be thrown. */
  readonly isLast: boolean;
}

/**
 * The way to begin again: `for await (const turn of turns({ most: 20 }))`. It has an end, behind which the caller says
 * what is so then; and where a request is answered, it ends as soon as whoever asked has left. A turn that begins after
 * `forMs` is the last.
 * @throws RequestAborted before a turn, other than the first, that nobody waits for any more
 */
export async function* turns({
  most = Infinity,
  forMs = Infinity,
  pauseMs = 0,
  now = () => performance.now(),
}: TurnsOptions): AsyncGenerator<Turn, void, void> {
  const until = now() + forMs;
  for (let count = 1; count <= most; count += 1) {
    const isLast = count === most || now() >= until;
    yield { count, isLast };
    if (isLast) return;
    const restMs = typeof pauseMs === 'number' ? pauseMs : pauseMs(count);
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    if (callerHasLeft()) throw new RequestAborted('The caller left before it could be answered');
  }
}
