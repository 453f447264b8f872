import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@customer-platform/kit/percentile.ts';
import { newId } from '@customer-platform/database';
import type { Caller, TestDatabase } from '@customer-platform/testing';

/** Windows that end, one every so many milliseconds, the first so long after the events are sent. */
const WINDOWS = 1_000;
const APART_MS = 10;
const AHEAD_MS = 25_000;
const WINDOW_MS = 60_000;
const BATCH = 100;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 60_000;

const LEFT = `
  SELECT external_id FROM segment_members AS member
    JOIN contacts ON contacts.organization_id = $1 AND contacts.id = contact_id
   WHERE member.organization_id = $1 AND left_at IS NOT NULL`;

/**
 * Lets the windows of a thousand contacts end with nothing else going on, and prints how long after each end the
 * contact was seen to have left; a look every 50 ms, which is within the figures.
 */
export async function measureWindowLag(
  caller: Caller,
  database: TestDatabase,
  organizationId: string,
): Promise<void> {
  const rule = { event: 'invoice_paid', within: 'PT1M' };
  const { status } = await caller.post('/v1/core/segments', { name: 'Just paid', rule });
  if (status !== 201) throw new Error(`A segment was answered ${status}.`);
  const ends = new Map<string, number>();
  const first = Date.now() + AHEAD_MS;
  const events = Array.from({ length: WINDOWS }, (_, number) => {
    const end = first + number * APART_MS;
    ends.set(`person-${number}`, end);
    return {
      event: 'invoice_paid',
      external_id: `person-${number}`,
      idempotency_key: newId(),
      occurred_at: new Date(end - WINDOW_MS).toISOString(),
    };
  });
  for (let at = 0; at < events.length; at += BATCH) {
    const answer = await caller.post('/v1/core/batch', { events: events.slice(at, at + BATCH) });
    if (answer.status !== 202) throw new Error(`A batch was answered ${answer.status}.`);
  }
  const lags = await lagsOf(database, organizationId, ends);
  const at = (share: number): string => percentile(lags, share).toFixed(0);
  process.stdout.write(
    `From the end of a window until the contact has left, ${lags.length} of ${WINDOWS}, in ms: ` +
      `p50 ${at(0.5)}, p95 ${at(0.95)}, at most ${at(1)}\n`,
  );
}

async function lagsOf(
  database: TestDatabase,
  organizationId: string,
  ends: ReadonlyMap<string, number>,
): Promise<number[]> {
  const seen = new Map<string, number>();
  const until = Math.max(...ends.values()) + PATIENCE_MS;
  while (seen.size < ends.size && Date.now() < until) {
    await pause(LOOK_EVERY_MS);
    const rows = await database.query<{ external_id: string }>(LEFT, [organizationId]);
    const now = Date.now();
    for (const { external_id: id } of rows) if (!seen.has(id)) seen.set(id, now - (ends.get(id) ?? now));
  }
  return [...seen.values()];
}
