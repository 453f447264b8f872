import { Injectable } from '@nestjs/common';
import type { Database, Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import { GateDatabase } from './gate-database.js';

const LOCK = 'SELECT pg_advisory_xact_lock($1)';
const IN_FLIGHT = `
  SELECT send_id, attempt FROM in_flight
   WHERE organization_id = $1 AND keys && $2::text[] AND lease_until > clock_timestamp()`;
/** An attempt that came after is another: it has seen what was written. */
const LIVE = `
  SELECT 1 FROM in_flight AS flight JOIN unnest($2::uuid[], $3::int[]) AS before (send_id, attempt) USING (send_id, attempt)
   WHERE organization_id = $1 AND lease_until > clock_timestamp() LIMIT 1`;
/** How long the database holds a send to be in flight; whoever writes what stops it waits for no longer. */
export const FLIGHT_SECONDS = 10;
const FIRST_PAUSE_MS = 3;
const LONGEST_PAUSE_MS = 25;

/** Hand-offs that were under way when something was written. */
interface Flight {
  send_id: string;
  attempt: number;
}

/**
 * How something comes to stand between the platform and an address: exclusive lock on its keys → write → commit → wait
 * until no hand-off that began before is still under way → answer. A dispatcher looks under a shared lock of the same
 * keys and in a later statement; so it either sees what was written here, or its hand-off is waited for. After
 * `write` has returned no hand-off to the address begins (messaging.md §1).
 */
@Injectable()
export class GateWriter {
  constructor(private readonly gate: GateDatabase) {}

  /** Runs `work` under the locks of all keys and waits for the hand-offs that its result must stop. */
  async write<T>(
    where: { organizationId: string },
    keys: readonly string[],
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const database = await this.gate.get();
    const { organizationId } = where;
    const { result, flights } = await database.inOrganization(where, async (tx) => {
      for (const lock of locksOf(keys)) await tx.prepared(LOCK, [lock]);
      const written = await work(tx);
      // Under the locks none is added: whatever begins later looks after the commit, and is no matter of this write.
      return { result: written, flights: await tx.prepared<Flight>(IN_FLIGHT, [organizationId, keys]) };
    });
    if (flights.length > 0) await this.drain(database, organizationId, flights);
    return result;
  }

  /** At most as long as a lease: after that nothing is live, whatever became of the process that held it. */
  private async drain(database: Database, organizationId: string, flights: readonly Flight[]): Promise<void> {
    const before = [flights.map((flight) => flight.send_id), flights.map((flight) => flight.attempt)];
    // No connection is held while waiting.
    const pauseMs = (made: number): number => Math.min(FIRST_PAUSE_MS * 2 ** (made - 1), LONGEST_PAUSE_MS);
    for await (const _ of turns({ forMs: FLIGHT_SECONDS * 1_000, pauseMs })) {
      const live = await database.inOrganization({ organizationId }, (tx) =>
        tx.prepared(LIVE, [organizationId, ...before]),
      );
      if (live.length === 0) return;
    }
  }
}
