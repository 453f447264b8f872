import { randomUUID } from 'node:crypto';
import { eventually } from '@customer-platform/testing';
import { aSend, messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';

const ADDRESSES = 200;
const SENDS_EACH = 4;
const SPAN_MS = 4_000;
const AT_ONCE = 12;

describe('suppressions while sends are in flight', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
  });
  afterAll(() => world.close());

  it('begins no DATA after the answer to a suppression', async () => {
    const { api } = world.organization();
    world.mail.delay = () => Math.random() * 60;
    const addresses = Array.from({ length: ADDRESSES }, () => `${randomUUID()}@example.com`);
    const answeredAt = new Map<string, number>();
    const statuses: number[] = [];
    const actions = addresses.flatMap((address) => [
      ...Array.from({ length: SENDS_EACH }, (_, n) => ({
        at: Math.random() * SPAN_MS,
        run: async () => {
          const body = aSend({
            recipient: { address },
            category: n % 2 === 0 ? 'transactional' : 'marketing',
          });
          const key = randomUUID();
          const accept = () => api.post('/v1/messaging/sends', body, { 'idempotency-key': key });
          statuses.push((await unlessBusy(accept)).status);
        },
      })),
      {
        at: Math.random() * SPAN_MS,
        run: async () => {
          const answer = await unlessBusy(() =>
            api.post('/v1/messaging/suppressions', { channel: 'email', address }),
          );
          answeredAt.set(address, performance.now());
          // A repeat after a 503 may find that the first has done it.
          expect([200, 201]).toContain(answer.status);
        },
      },
    ]);
    await inTime(actions);
    await eventually(
      async () => {
        const open = await world.database.query('SELECT 1 FROM sends WHERE due_at IS NOT NULL LIMIT 1');
        expect(open).toEqual([]);
      },
      { within: 60_000 },
    );
    expect(answeredAt.size).toBe(ADDRESSES);
    expect(new Set(statuses)).toEqual(new Set([202, 422]));
    expect(world.mail.begun.length).toBeGreaterThan(0);
    const late = world.mail.begun.filter(({ to, at }) => at > (answeredAt.get(to) ?? Infinity));
    expect(late).toEqual([]);
    const states = await world.database.query<{ state: string }>(
      'SELECT DISTINCT state FROM sends ORDER BY state',
    );
    expect(states.map(({ state }) => state)).toEqual(['sent', 'suppressed']);
  }, 120_000);
});

/** A machine that has no connection left for the moment says 503: the caller comes back, as callers do. */
async function unlessBusy<T extends { status: number }>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 503) return answer;
  }
}

/** Runs actions at their instants, a few at once, as separate callers would. */
async function inTime(actions: { at: number; run: () => Promise<void> }[]): Promise<void> {
  const queue = actions.sort((a, b) => a.at - b.at);
  const began = performance.now();
  const worker = async (): Promise<void> => {
    for (let action = queue.shift(); action; action = queue.shift()) {
      const early = action.at - (performance.now() - began);
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      await action.run();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
