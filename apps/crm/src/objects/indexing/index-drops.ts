import { LRUCache } from 'lru-cache';
import type { Transaction } from '@customer-platform/database';
import { INDEX_TABLES, INDEX_TYPES, type IndexKind } from '../records/index-values.js';
import type { IndexJob } from './index-jobs.js';

/** Rows of each table that one transaction removes. */
const PIECE = 2_000;
/** What is dropped elsewhere to its end leaves places behind. */
const MOST_PLACES_KEPT = 500;

/** The last row that was removed of a table. */
interface Place {
  readonly value: string;
  readonly record_id: string;
}

const removal = (table: string, type: string, after: boolean): string => `
  WITH piece AS (
    SELECT ctid FROM ${table} WHERE organization_id = $1 AND definition_id = $2 AND number = $3
       ${after ? `AND (value, record_id) > ($4::${type}, $5::uuid)` : ''}
     ORDER BY value, record_id LIMIT ${String(PIECE)}
  ), gone AS (
    DELETE FROM ${table} AS indexed USING piece WHERE indexed.ctid = piece.ctid RETURNING value, record_id
  )
  SELECT value::text, record_id FROM gone AS last ORDER BY last.value DESC, record_id DESC LIMIT 1`;

/** From the beginning, and from where the one before ended. */
const removals = (table: string, type: string): { table: string; first: string; next: string } => ({
  table,
  first: removal(table, type, false),
  next: removal(table, type, true),
});
const REMOVALS = [
  ...(Object.keys(INDEX_TABLES) as IndexKind[]).map((kind) =>
    removals(INDEX_TABLES[kind], INDEX_TYPES[kind]),
  ),
  removals('object_claims', 'text'),
];

/**
 * Removes the rows of numbers that nothing goes by, in pieces. What is removed stays in the index until it is vacuumed, so
 * a piece begins where this process ended the one before: from the beginning each would step over all that are gone. Where
 * it ended is but a hint, and the last piece looks from the beginning.
 */
export class IndexDrops {
  private readonly places = new LRUCache<string, Place>({ max: MOST_PLACES_KEPT });

  /** Whether something may be left. */
  async removePiece(tx: Transaction, job: IndexJob): Promise<boolean> {
    const key = [job.organization_id, job.definition_id, job.number];
    let isOver = true;
    for (const { table, first, next } of REMOVALS) {
      const name = [...key, table].join(' ');
      const place = this.places.get(name);
      const parameters = place ? [...key, place.value, place.record_id] : key;
      const [last] = await tx.query<Place>(place ? next : first, parameters);
      if (last) this.places.set(name, last);
      else this.places.delete(name);
      if (last || place) isOver = false;
    }
    return !isOver;
  }
}
