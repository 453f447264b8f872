import { newId, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import { metrics, type PlaceScope } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Counter } from 'prom-client';

/** Of an organization, over all instances. */
export const MOST_STREAMS = 5;

const refused = new Counter({
  name: 'event_streams_refused_total',
  help: 'Streams of events answered 429, by whose bound was reached: organization, platform',
  labelNames: ['scope'],
  registers: [metrics],
});

/** One after another: who counts sees what the last one took. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('event-streams:' || $1::text, 0))`;

/** Of an instance that was killed they come free when it has not renewed them for so long. */
const CLEAR = `
  DELETE FROM event_streams WHERE organization_id = $1 AND seen_at < clock_timestamp() - interval '10 seconds'`;

const TAKE = `
  INSERT INTO event_streams (organization_id, id, seen_at)
  SELECT $1, $2, clock_timestamp()
   WHERE (SELECT count(*) FROM event_streams WHERE organization_id = $1) < ${String(MOST_STREAMS)}
  RETURNING id`;

const RENEW = `
  UPDATE event_streams AS stream SET seen_at = clock_timestamp()
    FROM unnest($1::uuid[], $2::uuid[]) AS held (organization_id, id)
   WHERE stream.organization_id = held.organization_id AND stream.id = held.id
  RETURNING stream.id`;

const RELEASE = `
  DELETE FROM event_streams AS stream USING unnest($1::uuid[], $2::uuid[]) AS held (organization_id, id)
   WHERE stream.organization_id = held.organization_id AND stream.id = held.id`;

/** A stream that somebody reads. */
interface HeldSlot {
  readonly organizationId: string;
  readonly id: string;
}

/**
 * Counts one more stream of the transaction's organization.
 * @throws Problem `rate_limited` where it has as many as it may
 */
export async function takeSlot(tx: Transaction): Promise<string> {
  const { organizationId } = tx;
  await tx.query(LOCK, [organizationId]);
  await tx.query(CLEAR, [organizationId]);
  const [taken] = await tx.query<{ id: string }>(TAKE, [organizationId, newId()]);
  if (!taken) throw tooMany('organization');
  return taken.id;
}

/** Says that these are read still. @returns those that are not lost to others meanwhile */
export async function renewSlots(tx: WorkerTransaction, slots: readonly HeldSlot[]): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(RENEW, columnsOf(slots));
  return new Set(rows.map(({ id }) => id));
}

/** Gives them back. */
export async function releaseSlots(tx: WorkerTransaction, slots: readonly HeldSlot[]): Promise<void> {
  await tx.query(RELEASE, columnsOf(slots));
}

/** There are as many streams as there may be. */
export function tooMany(scope: PlaceScope): Problem {
  refused.inc({ scope });
  const detail = 'As many streams as may be are open at once; try again in 5 s.';
  return new Problem('rate_limited', { detail, headers: { 'Retry-After': '5' }, members: { scope } });
}

function columnsOf(slots: readonly HeldSlot[]): string[][] {
  return [slots.map(({ organizationId }) => organizationId), slots.map(({ id }) => id)];
}
