// @ts-expect-error kafkajs does not type its inner modules
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/** What kafkajs itself waits before it looks again at requests that wait. */
const LOOK_AGAIN_MS = 10;
/** How often a connection is looked at for requests that are overdue, which is after 10 s, or what a fetch waits. */
const OVERDUE_EVERY_MS = 500;

interface Sent {
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** The requests of one connection, as far as this file is concerned. */
interface Queue {
  pending: unknown[];
  readonly inflight: ReadonlyMap<number, Sent>;
  requestTimeoutIntervalId: NodeJS.Timeout | null;
  /** Milliseconds since 1970 until which the broker wants to be left alone; -1 while it does not. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  isConnected(): boolean;
  destroy(): void;
}

let repaired = false;

/**
 * kafkajs 2.2.4 looks for waiting requests again and again when none waits: it hands `setTimeout` a negative number,
 * which Node takes as 1 ms and warns of. Each idle connection so wakes its process 900 times a second: 5 % of a core
 * for each app at rest, and a fifth of all CPU under load. Here the timer is set only when a request waits.
 *
 * It looks ten times a second at every connection for requests that are overdue; here it does so twice.
 */
export function repairRequestQueue(): void {
  if (repaired) return;
  repaired = true;
  const { prototype } = RequestQueue as { prototype: Queue };
  prototype.scheduleCheckPendingRequests = function (this: Queue) {
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
  prototype.scheduleRequestTimeoutCheck = function (this: Queue) {
    this.destroy();
    // eslint-disable-next-line house/registered-work -- the time limits of requests to one broker
    this.requestTimeoutIntervalId = setInterval(() => {
      for (const request of this.inflight.values())
        if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
      if (!this.isConnected()) this.destroy();
    }, OVERDUE_EVERY_MS);
  };
}
