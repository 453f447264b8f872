import { setTimeout as sleep } from 'node:timers/promises';
import { type EventCounts, type Platform, readCounts } from './platform.ts';
import { adminOf } from './public-api.ts';

const SETTLED_WITHIN_MS = 240_000;
/** States of a send that can still change. */
const OPEN = ['accepted', 'rendering', 'gated', 'dispatching'] as const;

/** Waits until the queue is empty and no send can still change. */
export async function settled(platform: Platform): Promise<EventCounts> {
  const admin = await adminOf(platform);
  const params = { query: { 'state[in]': [...OPEN], limit: 1 } };
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  let quiet = 0;
  for (;;) {
    try {
      const counts = await readCounts(platform);
      const { data: sends } = await admin.GET('/v1/messaging/sends', { params });
      quiet = counts.pending === 0 && sends.data.length === 0 ? quiet + 1 : 0;
      if (quiet >= 6 || Date.now() > deadline) return counts;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      quiet = 0;
    }
    await sleep(1000);
  }
}
