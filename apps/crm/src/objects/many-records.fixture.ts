import type { ObjectWorld } from './objects.fixture.js';

const AT_ONCE = 50_000;
const OWN = 'FROM object_records WHERE organization_id = $1 AND definition_id = $2';

/** The fields of which many records are made. */
export const OWNED = [
  { key: 'owner', type: 'reference', target: 'contact', indexed: true },
  { key: 'plate', type: 'string', unique: true },
];

interface Index {
  readonly key: string;
  readonly number: number;
  readonly claim: number | null;
}

/** Records of {@link OWNED} of one contact with what stands beside them, by statements: one by one they would take hours. */
export async function seedRecords(
  { crm: { database }, organizationId }: ObjectWorld,
  { id }: { id: string },
  contactId: string,
  records: number,
): Promise<void> {
  const key = [organizationId, id];
  for (let from = 1; from <= records; from += AT_ONCE)
    await database.query(
      `INSERT INTO object_records (organization_id, id, definition_id, "values", created_at, updated_at)
       SELECT $1, gen_random_uuid(), $2, jsonb_build_object('owner', $3::text, 'plate', 'P' || n), now(), now()
         FROM generate_series($4::int, $5::int) AS n`,
      [...key, contactId, from, Math.min(records, from + AT_ONCE - 1)],
    );
  await database.query(
    `INSERT INTO object_references (organization_id, record_id, field, definition_id, contact_id, origin_contact_id)
     SELECT $1, id, 'owner', $2, $3, $3 ${OWN}`,
    [...key, contactId],
  );
  const [definition] = await database.query<{ indexes: Index[] }>(
    'SELECT indexes FROM object_definitions WHERE organization_id = $1 AND id = $2',
    key,
  );
  for (const { key: field, number, claim } of definition?.indexes ?? []) {
    const [table, value] =
      field === 'owner'
        ? ['object_ids', `("values"->>'owner')::uuid`]
        : ['object_texts', `'=' || ("values"->>'plate')`];
    await database.query(
      `INSERT INTO ${table} (organization_id, definition_id, number, value, record_id, live)
       SELECT $1, $2, ${String(number)}, ${value}, id, true ${OWN}`,
      key,
    );
    if (claim !== null)
      await database.query(
        `INSERT INTO object_claims (organization_id, definition_id, number, value, record_id)
         SELECT $1, $2, ${String(claim)}, ${value}, id ${OWN}`,
        key,
      );
  }
  await database.query(
    `INSERT INTO object_tallies (organization_id, definition_id, shard, records, active, held, active_held)
     VALUES ($1, $2, 0, $3, $3, $4, $4)`,
    [...key, records, JSON.stringify({ owner: records, plate: records })],
  );
}
