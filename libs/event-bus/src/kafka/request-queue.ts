// @ts-expect-error kafkajs does not type its inner modules
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/** What kafkajs itself waits before it looks again at requests that wait. */
const LOOK_AGAIN_MS = 10;

/** The requests of one connection, as far as this file is concerned. */
interface Queue {
  pending: unknown[];
  /** Milliseconds since 1970 until which the broker wants to be left alone; -1 while it does not. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

let repaired = false;

/**
 * kafkajs 2.2.4 looks for waiting requests again and again when none waits: it hands `setTimeout` a negative number,
 * which Node takes as 1 ms and warns of. Each idle connection so wakes its process 900 times a second: 5 % of a core
 * for each app at rest, and a fifth of all CPU under load. Here the timer is set only when a request waits.
 */
export function repairRequestQueue(): void {
  if (repaired) return;
  repaired = true;
  (RequestQueue as { prototype: Queue }).prototype.scheduleCheckPendingRequests = function (this: Queue) {
    if (this.throttleCheckTimeoutId || this.pending.length === 0) return;
    const throttledFor = this.throttledUntil - Date.now();
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledFor > 0 ? throttledFor : LOOK_AGAIN_MS,
    );
  };
}
