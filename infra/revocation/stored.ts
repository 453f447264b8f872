import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Observation } from './traffic.ts';

const WITHIN_MS = 90_000;
const STORED = 'SELECT id FROM events WHERE organization_id = $1 AND id = ANY ($2::uuid[])';
const DEAD =
  'SELECT event_id, code FROM dead_letters WHERE organization_id = $1 AND event_id = ANY ($2::uuid[])';

/** What became of the events of one organization. */
interface Fates {
  /** By the event's id: `stored`, or the code of its dead letter. */
  readonly of: ReadonlyMap<string, string>;
  /** Answered 202 and in neither place. */
  readonly lost: number;
  /** In both. */
  readonly doubled: number;
}

/** Waits until every event that was answered 202 has been stored or set aside. */
export async function fatesOf(
  core: pg.Client,
  organizationId: string,
  observations: readonly Observation[],
): Promise<Fates> {
  const ids = observations.flatMap(({ eventId }) => (eventId === undefined ? [] : [eventId]));
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const fates = await look(core, organizationId, ids);
    if (fates.lost === 0 || performance.now() > deadline) return fates;
    await pause(200);
  }
}

async function look(core: pg.Client, organizationId: string, ids: string[]): Promise<Fates> {
  const stored = await core.query<{ id: string }>(STORED, [organizationId, ids]);
  const dead = await core.query<{ event_id: string; code: string }>(DEAD, [organizationId, ids]);
  const of = new Map(dead.rows.map(({ event_id: id, code }) => [id, code]));
  const doubled = stored.rows.filter(({ id }) => of.has(id)).length;
  for (const { id } of stored.rows) of.set(id, 'stored');
  return { of, lost: ids.length - of.size, doubled };
}
