import type { Database } from '@customer-platform/database';
import { log, metrics } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import { BY_INDEX, SHARDS } from './shards.js';

/** The first row of each shard, by the index; the table is not read. */
const OLDEST = `
  SELECT coalesce(extract(epoch FROM clock_timestamp() - min(head.created_at)), 0)::float8 AS age
    FROM generate_series(0, ${String(SHARDS - 1)}) AS shard
   CROSS JOIN LATERAL (
     SELECT created_at FROM outbox WHERE outbox.shard = shard.shard ORDER BY outbox.id LIMIT 1) AS head`;

const databases = new Set<Database>();

new Gauge({
  name: 'outbox_oldest_age_seconds',
  help: 'How long the oldest row of the outbox has waited to be published; 0 while none does',
  registers: [metrics],
  async collect() {
    try {
      const ages = await Promise.all([...databases].map(outboxAge));
      this.set(Math.max(0, ...ages));
    } catch (error) {
      log.debug({ err: error }, 'The age of the outbox could not be read');
    }
  },
});

/** Tells of the outbox of this database from now on; returns what ends it. */
export function watchAge(database: Database): () => void {
  databases.add(database);
  return () => databases.delete(database);
}

/** How long the oldest row of the outbox has waited to be published, in seconds; 0 while none does. */
export async function outboxAge(database: Database): Promise<number> {
  return database.acrossOrganizations(
    (_, oldest) => Promise.resolve((oldest as { age: number } | undefined)?.age ?? 0),
    { settings: BY_INDEX, question: OLDEST },
  );
}
