import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import type { DoneErasure, ErasedCounts, ErasureRequested } from '@customer-platform/erasure';

const BEGIN = `
  INSERT INTO contact_erasures
    (organization_id, subject_request_id, contact_ids, counts, correlation_id, causation_id)
  VALUES ($1, $2, $3::uuid[], $4, $5, $6)`;
const FIND = `
  SELECT FROM contact_erasures WHERE organization_id = $1 AND subject_request_id = $2`;
/** Of two requests for one person the earlier counts what goes, and nothing goes twice. */
const COUNTING = `
  SELECT subject_request_id AS id, contact_ids FROM contact_erasures
   WHERE organization_id = $1 AND contact_ids && $2::uuid[] ORDER BY begun_at, subject_request_id FOR UPDATE`;
const COUNT = `
  UPDATE contact_erasures
     SET counts = counts || jsonb_build_object($3::text, coalesce((counts->>$3)::bigint, 0) + $4::bigint)
   WHERE organization_id = $1 AND subject_request_id = $2`;
const AT_ITS_END = `NOT EXISTS (
     SELECT FROM contact_record_jobs AS job
      WHERE job.organization_id = erasure.organization_id AND job.contacts && erasure.contact_ids)`;
/** SQL of the organizations of those that have nothing left to do, each with when it began. `$1` are requests that are left alone. */
export const ERASURES_AT_THEIR_END = `
  SELECT organization_id, begun_at FROM contact_erasures AS erasure
   WHERE subject_request_id::text <> ALL($1::text[]) AND ${AT_ITS_END}`;
const NEXT_DONE = `
  SELECT done.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, subject_request_id AS "requestId", contact_ids AS "contactIds", counts,
           correlation_id AS "correlationId", causation_id AS "causationId"
      FROM contact_erasures AS erasure
     WHERE organization_id = turn.organization_id AND subject_request_id::text <> ALL($2::text[]) AND ${AT_ITS_END}
     ORDER BY begun_at LIMIT 1 FOR UPDATE OF erasure SKIP LOCKED) AS done
   LIMIT 1`;
const END = 'DELETE FROM contact_erasures WHERE organization_id = $1 AND subject_request_id = $2';

/** An erasure that has nothing left to do but its receipt. */
export type ErasureAtItsEnd = DoneErasure & { readonly organization_id: string };

/** Remembers an erasure until its last piece is done. */
export async function beginErasure(
  tx: Transaction,
  { id, correlationid, data }: ErasureRequested,
  contactIds: readonly string[],
  counts: ErasedCounts,
): Promise<void> {
  const request = [data.subject_request_id, contactIds, counts, correlationid, id];
  await tx.query(BEGIN, [tx.organizationId, ...request]);
}

/** Whether the request is remembered. */
export async function isUnderWay(tx: Transaction, { data }: ErasureRequested): Promise<boolean> {
  return (await tx.query(FIND, [tx.organizationId, data.subject_request_id])).length > 0;
}

/**
 * Adds what went to the erasures that are under way, to each its own.
 * @param removed of each row the contacts whose it was
 * @returns how many rows are of none that is under way
 */
export async function countErased(
  tx: Transaction,
  resource: string,
  removed: readonly (readonly string[])[],
): Promise<number> {
  if (removed.length === 0) return 0;
  const contacts = [...new Set(removed.flat())];
  const erasures = await tx.query<{ id: string; contact_ids: string[] }>(COUNTING, [
    tx.organizationId,
    contacts,
  ]);
  const counting = (whose: readonly string[]): string | undefined =>
    erasures.find(({ contact_ids: ids }) => whose.some((id) => ids.includes(id)))?.id;
  const byErasure = Map.groupBy(removed, counting);
  for (const [id, rows] of byErasure)
    if (id !== undefined) await tx.query(COUNT, [tx.organizationId, id, resource, rows.length]);
  return byErasure.get(undefined)?.length ?? 0;
}

/** One of which no piece is left, and which nobody else ends, of the first of these organizations that has any. @param waiting requests that are left alone for now */
export async function erasureAtItsEnd(
  tx: WorkerTransaction,
  organizationIds: readonly string[],
  waiting: readonly string[],
): Promise<ErasureAtItsEnd | undefined> {
  const [erasure] = await tx.query<ErasureAtItsEnd>(NEXT_DONE, [organizationIds, waiting]);
  return erasure;
}

/** Forgets it: whom it was about stands nowhere any more. */
export async function endErasure(tx: Transaction, { requestId }: DoneErasure): Promise<void> {
  await tx.query(END, [tx.organizationId, requestId]);
}
