import type { Transaction } from '@customer-platform/database';

/** Rows in one statement: a payload may be long. */
const PIECE = 500;

/** What erases is kept: an erasure that could not be carried out must not be lost with the person's other events. */
const LOOK = `
  SELECT id, event_type <> 'core.erasure.requested.v1'
             AND (key = ANY($3::text[]) OR EXISTS (SELECT FROM unnest($3::text[]) AS named (id)
                                                    WHERE strpos(lower(payload), named.id) > 0)) AS goes
    FROM (SELECT id, event_type, key, payload FROM parked_events
           WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT ${String(PIECE)}) AS piece
   ORDER BY id`;

const FORGET = 'DELETE FROM parked_events WHERE organization_id = $1 AND id = ANY($2::uuid[])';

const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Takes away what is parked in the transaction's organization and names one of these contacts, as its key or anywhere in
 * its payload: it would keep the person, and bring them back when it is delivered again. A piece at a time.
 * @param contactIds UUIDs, in lower case
 * @returns how many events
 */
export async function forgetParked(tx: Transaction, contactIds: readonly string[]): Promise<number> {
  let [last, count] = [FIRST, 0];
  let read: number;
  do {
    const rows = await tx.query<{ id: string; goes: boolean }>(LOOK, [tx.organizationId, last, contactIds]);
    const gone = rows.filter(({ goes }) => goes).map(({ id }) => id);
    if (gone.length > 0) await tx.query(FORGET, [tx.organizationId, gone]);
    count += gone.length;
    last = rows.at(-1)?.id ?? last;
    read = rows.length;
  } while (read === PIECE);
  return count;
}
