import type { Database } from '@customer-platform/database';
import type { TopicEnds } from '@customer-platform/event-bus';
import type { QueuePositions } from '../processing/queue-positions.js';
import type { AcceptanceCounter } from './acceptance-counter.js';
import { QueueEnd } from './queue-end.js';

/** Readers who are at these places, one look after the other, of a queue that ends at 3. */
function aQueue(places: bigint[], ends: () => Promise<ReadonlyMap<number, bigint>>) {
  let looks = 0;
  const positions = {
    furthest: () => {
      const place = places[Math.min(looks, places.length - 1)] ?? 0n;
      looks += 1;
      return Promise.resolve(new Map([[0, place]]));
    },
  } as unknown as QueuePositions;
  const database = { acrossOrganizations: (work: () => unknown) => work() } as unknown as Database;
  const counter = { hurry: () => undefined } as unknown as AcceptanceCounter;
  const end = new QueueEnd({ of: ends } as unknown as TopicEnds, database, positions, counter);
  return { end, looks: () => looks };
}

const atThree = (): Promise<ReadonlyMap<number, bigint>> => Promise.resolve(new Map([[0, 3n]]));

it('takes a look that is older than the end for enough where it is at the end already', async () => {
  const { end, looks } = aQueue([3n], atThree);
  await end.counted();
  expect(looks()).toBe(1);
});

it('looks again where what it saw before the end was known is short of it', async () => {
  const { end, looks } = aQueue([1n, 2n, 3n], atThree);
  await end.counted();
  expect(looks()).toBe(3);
});

it('gives up waiting where the readers stand still, and where nobody knows the end', async () => {
  await aQueue([1n], atThree).end.counted();
  const { end, looks } = aQueue([1n], () => Promise.reject(new Error('Nobody is there')));
  await end.counted();
  expect(looks()).toBe(1);
});
