import type { Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

/** Of an organization: imports that have not ended. */
const MOST_WAITING = 10;
/** Of the contents of their files, together. */
const MOST_WAITING_BYTES = 2 * 1024 * 1024 * 1024;

const WAITING = `
  SELECT count(*)::int AS count, coalesce(sum(file_bytes), 0)::text AS bytes FROM imports
   WHERE organization_id = $1 AND state IN ('queued', 'running')`;

/** Imports of one organization are opened one after another. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('limit:imports:' || $1::text, 0))`;

/**
 * How many bytes the file of a further import may have, in the organization of the transaction.
 * @throws Problem `limit_reached` where there may be no further one
 */
export async function roomOfImports(tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ count: number; bytes: string }>(WAITING, [tx.organizationId]);
  if ((row?.count ?? 0) >= MOST_WAITING) {
    throw new Problem('limit_reached', {
      detail: `At most ${MOST_WAITING} imports can wait for their end.`,
      members: { limit: MOST_WAITING },
    });
  }
  return MOST_WAITING_BYTES - Number(row?.bytes ?? 0);
}

/**
 * Refuses what is one too many, however many are opened at once.
 * @throws Problem `limit_reached`
 */
export async function demandRoom(tx: Transaction, bytes: number): Promise<void> {
  await tx.query(LOCK, [tx.organizationId]);
  if (bytes > (await roomOfImports(tx))) throw noRoom();
}

/** The file is larger than what may still be added. */
export function noRoom(): Problem {
  return new Problem('limit_reached', {
    detail: 'The files of imports that wait for their end have at most 2 GiB together.',
    members: { limit: MOST_WAITING_BYTES },
  });
}
