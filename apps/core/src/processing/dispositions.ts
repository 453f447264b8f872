import { type Transaction, uuids } from '@customer-platform/database';
import { within } from './chunk-contact.js';
import {
  CLAIMS_NO_KEY,
  failed,
  KEY_CONFLICT,
  type Arrival,
  type FailedItem,
  type WorkItem,
} from '../vocabulary/events/work-item.js';

const KNOWN = `
  WITH given AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS arrival (organization_id, event_id))
  SELECT given.organization_id, given.event_id, event.fingerprint, true AS claims
    FROM given JOIN events AS event ON event.organization_id = given.organization_id AND event.id = given.event_id
  UNION ALL
  SELECT given.organization_id, given.event_id, trace.fingerprint, true
    FROM given
    JOIN removed_events AS trace ON trace.organization_id = given.organization_id AND trace.id = given.event_id
  UNION ALL
  SELECT given.organization_id, given.event_id, letter.fingerprint, letter.code <> ALL ('{${CLAIMS_NO_KEY.join(',')}}')
    FROM given
    JOIN dead_letters AS letter
      ON letter.organization_id = given.organization_id AND letter.event_id = given.event_id
   WHERE letter.stage <> 'loyalty' AND letter.id <> ALL($3::uuid[])`;

interface KnownRow {
  organization_id: string;
  event_id: string;
  fingerprint: string;
  claims: boolean;
}

/** What was seen under one key: the bodies, and whether any of them has it. */
interface KnownKey {
  readonly bodies: Set<string>;
  isClaimed: boolean;
}

/** Events, sorted by what is to be done with each; each list in the order of arrival. */
interface Dispositions {
  readonly fresh: WorkItem[];
  readonly duplicates: Arrival[];
  readonly dead: FailedItem[];
}

/**
 * Tells new events from repeats (contract.md §6), of events that retention has removed too: a key that was seen with the
 * same body is a duplicate; with another body the event becomes a dead letter that is born closed, and a repeat of that
 * second body is a duplicate again.
 * What a revoked credential sent claims no key, nor does what not even a letter could hold: whoever may send sends the
 * same event under the same key after it. Nor does what came second: the first, which failed, is run again under its key.
 * @param letterId the letter that is being run again, which does not stand in its own way
 */
export async function sortArrivals(
  tx: Transaction,
  arrivals: readonly Arrival[],
  letterId?: string,
): Promise<Dispositions> {
  const known = new Map<string, KnownKey>();
  const asked = [...new Map(arrivals.map((arrival) => [nameOf(arrival), arrival])).values()];
  const rows = await tx.prepared<KnownRow>(KNOWN, [
    uuids(asked.map(({ organizationId }) => organizationId)),
    uuids(asked.map(({ eventId }) => eventId)),
    uuids(letterId === undefined ? [] : [letterId]),
  ]);
  for (const row of rows)
    remember(known, within(row.organization_id, row.event_id), row.fingerprint, row.claims);
  const sorted: Dispositions = { fresh: [], duplicates: [], dead: [] };
  for (const arrival of arrivals) {
    const name = nameOf(arrival);
    const key = known.get(name);
    if (key?.bodies.has(arrival.fingerprint)) {
      sorted.duplicates.push(arrival);
      continue;
    }
    const isClaimed = key?.isClaimed === true;
    const claims = !arrival.failure || !CLAIMS_NO_KEY.includes(arrival.failure.code);
    remember(known, name, arrival.fingerprint, claims);
    if (claims && isClaimed) sorted.dead.push(conflict(arrival));
    else if (arrival.failure) sorted.dead.push(arrival);
    else sorted.fresh.push(arrival);
  }
  return sorted;
}

function nameOf({ organizationId, eventId }: Arrival): string {
  return within(organizationId, eventId);
}

function remember(known: Map<string, KnownKey>, name: string, fingerprint: string, claims: boolean): void {
  const key = known.get(name) ?? { bodies: new Set(), isClaimed: false };
  key.bodies.add(fingerprint);
  key.isClaimed ||= claims;
  known.set(name, key);
}

function conflict(arrival: Arrival): FailedItem {
  const code = KEY_CONFLICT;
  const detail = 'Another event was accepted under this idempotency key; the first one stands.';
  return failed(arrival, { stage: 'store', code, detail, attempts: 1, closed: code });
}
