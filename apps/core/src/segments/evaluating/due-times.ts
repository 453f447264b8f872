import type { Transaction } from '@customer-platform/database';

const DUE = `
  SELECT contact_id FROM segment_dues WHERE organization_id = $1 AND due_at <= $2
   ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED`;

const OF_CONTACTS = `
  SELECT contact_id, segment_ids,
         ARRAY(SELECT (extract(epoch FROM at) * 1000)::float8 FROM unnest(due_ats) WITH ORDINALITY AS due (at, place)
                ORDER BY place) AS due_ats
    FROM segment_dues WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

const WRITE = `
  INSERT INTO segment_dues AS due (organization_id, contact_id, due_at, segment_ids, due_ats)
  SELECT $1, contact_id, due_at, ARRAY(SELECT jsonb_array_elements_text(segment_ids::jsonb)::uuid),
         ARRAY(SELECT jsonb_array_elements_text(due_ats::jsonb)::timestamptz)
    FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[]) AS new (contact_id, due_at, segment_ids, due_ats)
   ORDER BY contact_id
  ON CONFLICT (organization_id, contact_id) DO UPDATE
    SET due_at = excluded.due_at, segment_ids = excluded.segment_ids, due_ats = excluded.due_ats`;

const CLEAR = `DELETE FROM segment_dues WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

const PUT_OFF = `UPDATE segment_dues SET due_at = $3 WHERE organization_id = $1 AND contact_id = $2`;

/** When time alone may move a contact, in milliseconds, by segment. */
export type DueTimes = Map<string, number>;

/** The contacts whose time has come, the earliest first. */
export async function dueContacts(tx: Transaction, now: Date, most: number): Promise<string[]> {
  const rows = await tx.query<{ contact_id: string }>(DUE, [tx.organizationId, now, most]);
  return rows.map(({ contact_id: id }) => id);
}

export async function readDueTimes(
  tx: Transaction,
  contactIds: readonly string[],
): Promise<Map<string, DueTimes>> {
  const rows = await tx.query<{ contact_id: string; segment_ids: string[]; due_ats: number[] }>(OF_CONTACTS, [
    tx.organizationId,
    contactIds,
  ]);
  return new Map(
    rows.map(({ contact_id: id, segment_ids: segments, due_ats: times }) => [
      id,
      new Map(segments.map((segment, at) => [segment, times[at] ?? 0])),
    ]),
  );
}

/** Writes those that are others than before. */
export async function writeDueTimes(
  tx: Transaction,
  before: ReadonlyMap<string, DueTimes>,
  after: ReadonlyMap<string, DueTimes>,
): Promise<void> {
  const cleared = [...after].flatMap(([id, dues]) => (dues.size === 0 && before.has(id) ? id : []));
  if (cleared.length > 0) await tx.query(CLEAR, [tx.organizationId, cleared]);
  const changed = [...after].filter(([id, dues]) => dues.size > 0 && !same(before.get(id), dues));
  if (changed.length === 0) return;
  const of = <T>(read: (dues: DueTimes) => T): T[] => changed.map(([, dues]) => read(dues));
  await tx.query(WRITE, [
    tx.organizationId,
    changed.map(([id]) => id),
    of((dues) => iso(Math.min(...dues.values()))),
    of((dues) => JSON.stringify([...dues.keys()])),
    of((dues) => JSON.stringify([...dues.values()].map(iso))),
  ]);
}

/** Keeps a contact that cannot be evaluated from standing in the way of the others. */
export async function putOff(tx: Transaction, contactId: string, until: Date): Promise<void> {
  await tx.query(PUT_OFF, [tx.organizationId, contactId, until]);
}

const iso = (ms: number): string => new Date(ms).toISOString();

function same(one: DueTimes | undefined, other: DueTimes): boolean {
  if (one?.size !== other.size) return false;
  return [...other].every(([segment, at]) => one.get(segment) === at);
}
