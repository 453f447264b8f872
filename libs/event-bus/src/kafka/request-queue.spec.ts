import { jest } from '@jest/globals';
// @ts-expect-error kafkajs does not type its inner modules
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { repairRequestQueue } from './request-queue.js';

const MAX_IN_FLIGHT = 1;
const logger = { namespace: () => logger, debug: () => undefined };

interface Queue {
  pending: object[];
  inflight: Map<number, object>;
  scheduleRequestTimeoutCheck(): void;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  maybeThrottle(ms: number): void;
  scheduleCheckPendingRequests(): void;
  checkPendingRequests(): void;
  destroy(): void;
}

function aQueue(): Queue {
  return new RequestQueue({
    logger,
    requestTimeout: 1_000,
    maxInFlightRequests: MAX_IN_FLIGHT,
    enforceRequestTimeout: true,
    clientId: 'test',
    broker: 'nowhere',
    isConnected: () => true,
  }) as Queue;
}

describe('the requests of a connection', () => {
  beforeAll(() => repairRequestQueue());

  it('set no timer while none waits', () => {
    const queue = aQueue();
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
  });

  it('go out when the broker no longer throttles', async () => {
    const queue = aQueue();
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    queue.maybeThrottle(30);
    queue.pending.push({ send: resolve, completed: () => undefined, entry: {} });
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
    await sent;
    queue.destroy();
  });

  it('end once they are overdue, and those that are not go on', async () => {
    const queue = aQueue();
    const { promise: overdue, resolve } = Promise.withResolvers<void>();
    const early = jest.fn();
    const sentAt = Date.now() - 10_000;
    queue.inflight.set(1, { sentAt, requestTimeout: 20_000, timeoutRequest: early });
    queue.inflight.set(2, { sentAt, requestTimeout: 10_000, timeoutRequest: resolve });
    queue.scheduleRequestTimeoutCheck();
    await overdue;
    expect(early).not.toHaveBeenCalled();
    queue.destroy();
  });
});
