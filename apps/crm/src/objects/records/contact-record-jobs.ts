import type { Transaction, WorkerTransaction } from '@customer-platform/database';

/** A contact whose records are being given to another, or removed, and up to where they have been looked through. */
export interface ContactRecordJob {
  readonly organization_id: string;
  readonly contact_id: string;
  /** All whom it may concern: those of the event, and those merged into them. */
  readonly contacts: readonly string[];
  readonly cursor_id: string | null;
  /** Another one with each change of the row. */
  readonly version: string;
}

const columnsOf = (table: string): string =>
  `organization_id, contact_id, contacts, cursor_id, ${table}.xmin::text AS version`;
const COLUMNS = columnsOf('contact_record_jobs');
/** In one order for all who write several; from the beginning, for what was right before may be wrong now. */
const BEGIN = `
  INSERT INTO contact_record_jobs AS job (organization_id, contact_id, contacts)
  SELECT $1, given.id, $2::uuid[] FROM unnest($2::uuid[]) AS given (id)
   WHERE EXISTS (SELECT FROM object_references AS own WHERE own.organization_id = $1 AND own.contact_id = given.id)
   ORDER BY given.id
  ON CONFLICT (organization_id, contact_id) DO UPDATE
     SET cursor_id = NULL, moved_at = clock_timestamp(),
         contacts = ARRAY(SELECT unnest(job.contacts) UNION SELECT unnest(excluded.contacts))
  RETURNING ${columnsOf('job')}`;
const NOW = 'statement_timestamp()::timestamptz(3)';
/**
 * SQL of the organizations of those that can go on, each with since when. `$1` are contacts that are left alone. Walks from
 * the first of one organization to that of the next, however many there are.
 */
export const JOBS_BY_TURN = `
  WITH RECURSIVE first AS (
    (SELECT organization_id, moved_at FROM contact_record_jobs WHERE contact_id::text <> ALL($1::text[])
      ORDER BY organization_id, moved_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.moved_at FROM first, LATERAL (
      SELECT organization_id, moved_at FROM contact_record_jobs
       WHERE organization_id > first.organization_id AND contact_id::text <> ALL($1::text[])
       ORDER BY organization_id, moved_at LIMIT 1) AS next)
  SELECT organization_id, moved_at FROM first WHERE moved_at <= ${NOW}`;
/** They take turns. No index by time alone has this order: it has everybody's. */
export const NEXT = `
  SELECT own.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT ${COLUMNS} FROM contact_record_jobs
     WHERE organization_id BETWEEN turn.organization_id AND turn.organization_id AND moved_at <= ${NOW}
       AND contact_id::text <> ALL($2::text[])
     ORDER BY organization_id, moved_at LIMIT 1) AS own
   LIMIT 1`;
const TAKE = `
  SELECT ${COLUMNS} FROM contact_record_jobs
   WHERE organization_id = $1 AND contact_id = $2 FOR UPDATE`;
const ON = `
  UPDATE contact_record_jobs SET cursor_id = $3, moved_at = clock_timestamp()
   WHERE organization_id = $1 AND contact_id = $2`;
const OVER = 'DELETE FROM contact_record_jobs WHERE organization_id = $1 AND contact_id = $2';
/** Whose records are on their way to or from one of these, whatever contact the work goes by. */
const CONCERNED = `
  SELECT FROM contact_record_jobs WHERE organization_id = $1 AND contacts && $2::uuid[] LIMIT 1`;
const UNSETTLED = 'SELECT contact_id AS id FROM contact_record_jobs WHERE organization_id = $1';

/** Remembers those of the contacts that records refer to; whoever works on one of them is waited for. */
export function beginJobs(tx: Transaction, contactIds: readonly string[]): Promise<ContactRecordJob[]> {
  return tx.query<ContactRecordJob>(BEGIN, [tx.organizationId, contactIds]);
}

/** Whose turn it is, of the first of these organizations that has any. @param waiting contacts that are left alone for now */
export async function nextJob(
  tx: WorkerTransaction,
  organizationIds: readonly string[],
  waiting: readonly string[],
): Promise<ContactRecordJob | undefined> {
  const [job] = await tx.query<ContactRecordJob>(NEXT, [organizationIds, waiting]);
  return job;
}

/** The job as it is now, for whoever has locked its contacts; undefined where it is over. */
export async function takeJob(
  tx: Transaction,
  { contact_id: id }: ContactRecordJob,
): Promise<ContactRecordJob | undefined> {
  const [job] = await tx.query<ContactRecordJob>(TAKE, [tx.organizationId, id]);
  return job;
}

/** Remembers up to where it has come; null: over. */
export async function noteProgress(
  tx: Transaction,
  { contact_id: id }: ContactRecordJob,
  cursor: { readonly after: string | null } | null,
): Promise<void> {
  if (cursor) await tx.query(ON, [tx.organizationId, id, cursor.after]);
  else await tx.query(OVER, [tx.organizationId, id]);
}

/** Whether any job concerns one of these: also one of a contact that they were merged into and are parted from. */
export async function areConcerned(tx: Transaction, contactIds: readonly string[]): Promise<boolean> {
  return (await tx.query(CONCERNED, [tx.organizationId, contactIds])).length > 0;
}

/** The contacts of the organization whose records are not yet all where they belong. */
export async function unsettledContacts(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(UNSETTLED, [tx.organizationId]);
  return rows.map(({ id }) => id);
}
