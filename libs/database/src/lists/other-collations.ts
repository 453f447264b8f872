import { Gauge } from 'prom-client';
import { log, metrics } from '@customer-platform/http';
import type { Database } from '../database.js';

/**
 * Finds what is sorted by another version than its indexes were made in: the collations that migrations made, and the
 * order of the database itself. What has no version, as `C` has none, never changes.
 */
const OTHERS = `
  SELECT collname::text AS name FROM pg_collation
   WHERE collnamespace <> 'pg_catalog'::regnamespace
     AND collversion IS NOT NULL AND collversion IS DISTINCT FROM pg_collation_actual_version(oid)
   UNION ALL
  SELECT 'the order of the database' FROM pg_database
   WHERE datname = current_database()
     AND datcollversion IS NOT NULL AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)
   ORDER BY name`;

const others = new Gauge({
  name: 'database_collations_of_other_version',
  help: 'Orders of text whose version is another than that of the indexes, as the start found them',
  registers: [metrics],
});

/**
 * Tells of orders of text that an upgrade of ICU or of the system has changed under their indexes: these miss rows, and a
 * unique one takes what is there already, until they are made anew. Nothing is refused for it: most rows are found.
 */
export async function tellOfOtherCollations(database: Database): Promise<void> {
  const found = await database.acrossOrganizations((tx) => tx.query<{ name: string }>(OTHERS));
  others.set(found.length);
  if (found.length === 0) return;
  log.warn(
    { collations: found.map(({ name }) => name) },
    'PostgreSQL sorts text by another version than its indexes were made in, and they miss rows: REINDEX DATABASE, ' +
      'then REFRESH VERSION, as docs/operations/deploy.md says ("After an upgrade of ICU")',
  );
}
