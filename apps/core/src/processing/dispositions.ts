import type { Transaction } from '@customer-platform/database';
import { CREDENTIAL_REVOKED, failed, type Arrival, type FailedItem, type WorkItem } from './work-item.js';

const KNOWN = `
  SELECT id AS event_id, fingerprint, true AS claims FROM events
   WHERE organization_id = $1 AND id = ANY($2::uuid[])
  UNION ALL
  SELECT event_id, fingerprint, code <> '${CREDENTIAL_REVOKED}' FROM dead_letters
   WHERE organization_id = $1 AND event_id = ANY($2::uuid[]) AND stage <> 'loyalty' AND id <> ALL($3::uuid[])`;

interface KnownRow {
  event_id: string;
  fingerprint: string;
  claims: boolean;
}

/** What was seen under one key: the bodies, and whether any of them has it. */
interface KnownKey {
  readonly bodies: Set<string>;
  isClaimed: boolean;
}

/** The events of one organization, sorted by what is to be done with each; each list in the order of arrival. */
export interface Dispositions {
  readonly fresh: WorkItem[];
  readonly duplicates: Arrival[];
  readonly dead: FailedItem[];
}

/**
 * Tells new events from repeats (contract.md §6): a key that was seen with the same body is a duplicate; with another
 * body the event becomes a dead letter that is born closed, and a repeat of that second body is a duplicate again.
 * What a revoked credential sent claims no key: whoever may send sends the same event under the same key after it.
 * @param replayed ids of the letters that are being run again, which do not stand in their own way
 */
export async function sortArrivals(
  tx: Transaction,
  organizationId: string,
  arrivals: readonly Arrival[],
  replayed: readonly string[] = [],
): Promise<Dispositions> {
  const ids = [...new Set(arrivals.map(({ eventId }) => eventId))];
  const known = new Map<string, KnownKey>();
  const rows = await tx.query<KnownRow>(KNOWN, [organizationId, ids, replayed]);
  for (const row of rows) remember(known, row.event_id, row.fingerprint, row.claims);
  const sorted: Dispositions = { fresh: [], duplicates: [], dead: [] };
  for (const arrival of arrivals) {
    const key = known.get(arrival.eventId);
    if (key?.bodies.has(arrival.fingerprint)) {
      sorted.duplicates.push(arrival);
      continue;
    }
    const isClaimed = key?.isClaimed === true;
    const claims = arrival.failure?.code !== CREDENTIAL_REVOKED;
    remember(known, arrival.eventId, arrival.fingerprint, claims);
    if (claims && isClaimed) sorted.dead.push(conflict(arrival));
    else if (arrival.failure) sorted.dead.push(arrival);
    else sorted.fresh.push(arrival);
  }
  return sorted;
}

function remember(known: Map<string, KnownKey>, eventId: string, fingerprint: string, claims: boolean): void {
  const key = known.get(eventId) ?? { bodies: new Set(), isClaimed: false };
  key.bodies.add(fingerprint);
  key.isClaimed ||= claims;
  known.set(eventId, key);
}

function conflict(arrival: Arrival): FailedItem {
  const code = 'idempotency_key_conflict';
  const detail = 'Another event was accepted under this idempotency key; the first one stands.';
  return failed(arrival, { stage: 'store', code, detail, attempts: 1, closed: code });
}
