import { setTimeout as sleep } from 'node:timers/promises';
import { type EventCounts, type Platform, get, readCounts } from './platform.ts';

const SETTLED_WITHIN_MS = 240_000;

/** Waits until the queue is empty and no send can still change. */
export async function settled(platform: Platform): Promise<EventCounts> {
  const open = '/v1/messaging/sends?state[in]=accepted,rendering,gated,dispatching&limit=1';
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  let quiet = 0;
  for (;;) {
    try {
      const counts = await readCounts(platform);
      const sends = await get<{ data: unknown[] }>(platform, open);
      quiet = counts.pending === 0 && sends.data.length === 0 ? quiet + 1 : 0;
      if (quiet >= 6 || Date.now() > deadline) return counts;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      quiet = 0;
    }
    await sleep(1000);
  }
}
