import { Injectable } from '@nestjs/common';
import { Database, uuids } from '@customer-platform/database';
import { Instances } from '../../instances/instances.js';
import { INSTANCE_SECONDS, type LimitAnswer, type LimitRequest, type LimitStore } from './limit-store.js';

/**
 * One statement for the buckets of all organizations, in one order for all instances, so that they wait for each other
 * instead of deadlocking. The time is the server's at the moment in which the row is held, rounded before it is used:
 * what is cut off of one interval is part of the next. Where it was set back (a failover) an interval is missing, and
 * the next one counts. `owed` and `wanted` are columns because nothing else of a row
 * that is there already reaches its update.
 */
const EXCHANGE = `
  INSERT INTO rate_limit_buckets AS bucket
    (organization_id, id, per_second, capacity, owed, wanted, granted, balance, filled_at)
  SELECT asked.organization_id, asked.id, asked.per_second, asked.capacity, asked.owed, asked.wanted,
         lease.granted, full_now.tokens - lease.granted, clock_timestamp()
    FROM unnest($1::uuid[], $2::uuid[], $3::float8[], $4::float8[], $5::float8[], $6::float8[])
           AS asked (organization_id, id, per_second, capacity, owed, wanted),
         LATERAL (SELECT least(capacity, greatest(-capacity * $7::float8, capacity - owed)) AS tokens)
           AS full_now,
         LATERAL (SELECT greatest(0, floor(least(wanted, full_now.tokens))) AS granted) AS lease
   ORDER BY asked.organization_id, asked.id
  ON CONFLICT (organization_id, id) DO UPDATE
     SET (per_second, capacity, owed, wanted, granted, balance, filled_at) = (
       SELECT excluded.per_second, excluded.capacity, excluded.owed, excluded.wanted,
              lease.granted, left_over.tokens - lease.granted, present.instant
         FROM (SELECT clock_timestamp()::timestamptz(3) AS instant) AS present,
              LATERAL (SELECT least(excluded.capacity, bucket.balance + excluded.per_second
                         * greatest(0, extract(epoch FROM present.instant - bucket.filled_at)::float8)) AS tokens)
                AS filled,
              LATERAL (SELECT least(excluded.capacity, greatest(-excluded.capacity * $7::float8,
                         filled.tokens - excluded.owed)) AS tokens) AS left_over,
              LATERAL (SELECT greatest(0, floor(least(excluded.wanted, left_over.tokens))) AS granted) AS lease)
  RETURNING id, granted, balance`;

/** Rows that an exchange holds are left to the next sweep: whoever waited here could wait for one that waits for it. */
const SWEEP = `
  DELETE FROM rate_limit_buckets swept
   USING (SELECT organization_id, id FROM rate_limit_buckets
           WHERE filled_at < clock_timestamp() - interval '1 minute'
             AND balance + per_second * extract(epoch FROM clock_timestamp() - filled_at)::float8 >= capacity
             FOR UPDATE SKIP LOCKED) AS full_again
   WHERE swept.organization_id = full_again.organization_id AND swept.id = full_again.id`;

/** Limits shared in the module's own PostgreSQL, in tables that a crash of the server empties: all buckets are full then. */
@Injectable()
export class PostgresLimitStore implements LimitStore {
  private readonly instances: Instances;

  constructor(private readonly database: Database) {
    this.instances = new Instances(database, 'rate_limits', INSTANCE_SECONDS * 1_000);
  }

  async exchange(requests: readonly LimitRequest[], mostDebt: number): Promise<LimitAnswer[]> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.prepared<LimitAnswer & { id: string }>(EXCHANGE, [
        uuids(requests.map(({ organizationId }) => organizationId)),
        uuids(requests.map(({ id }) => id)),
        requests.map(({ perSecond }) => perSecond),
        requests.map(({ capacity }) => capacity),
        requests.map(({ owed }) => owed),
        requests.map(({ wanted }) => wanted),
        mostDebt,
      ]),
    );
    const answers = new Map(rows.map((row) => [row.id, row]));
    return requests.map(({ id }) => {
      const answer = answers.get(id);
      if (!answer) throw new Error('A rate limit was exchanged without an answer');
      return answer;
    });
  }

  async beat(instanceId: string): Promise<number> {
    return 1 + (await this.instances.tell(instanceId)).length;
  }

  async leave(instanceId: string): Promise<void> {
    await this.instances.leave(instanceId);
  }

  async sweep(): Promise<void> {
    await this.database.acrossOrganizations((tx) => tx.query(SWEEP));
  }

  /** The pool is the database module's to close. */
  async close(): Promise<void> {
    await Promise.resolve();
  }
}
