import type { IncomingMessage } from 'node:http';

/** A body must move: over each window it brings at least this much, or the caller is let go. */
export interface BodyPace {
  windowMs: number;
  leastBytes: number;
}

/** 1 KiB/s: slower than any line people use, fast enough that a dripped body cannot hold a connection to a module. */
export const BODY_PACE: BodyPace = { windowMs: 10_000, leastBytes: 10 * 1024 };

/**
 * Watches that a request's body keeps coming; calls `tooSlow` once if it does not. A body that waits because the
 * module reads slowly is not the caller's fault. Answers how to stop watching.
 */
export function watchBody(
  request: IncomingMessage,
  tooSlow: () => void,
  pace: BodyPace = BODY_PACE,
): () => void {
  let before = request.socket.bytesRead;
  const timer = setInterval(() => {
    const now = request.socket.bytesRead;
    const waitsForModule = request.isPaused();
    const slow = now - before < pace.leastBytes && !waitsForModule && !request.complete;
    before = now;
    if (!slow) return;
    clearInterval(timer);
    tooSlow();
  }, pace.windowMs);
  const stop = () => clearInterval(timer);
  request.once('end', stop);
  request.once('close', stop);
  return stop;
}
