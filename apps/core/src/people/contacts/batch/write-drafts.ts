import {
  integers,
  postgresFailure,
  texts,
  timestamps,
  uuids,
  WriteConflict,
  type Transaction,
} from '@customer-platform/database';
import { namesOf } from '@customer-platform/events';
import { columnsOf } from '../../../vocabulary/contacts/contact-columns.js';
import {
  FIELD_NAMES,
  FIELD_PROPERTIES,
  NATIONAL_ID_COLUMNS,
} from '../../../vocabulary/contacts/contact-field-table.js';
import type { Contact } from '../contact.entity.js';
import type { Draft, DraftChange } from './contact-drafts.js';
import type { OwnedIdentity } from './known-contacts.js';

/** Columns that are given as text. */
const TEXTS = [
  ...columnsOf(FIELD_NAMES),
  ...Object.values(NATIONAL_ID_COLUMNS).map((column) => ({ column, typed: column })),
  { column: 'attributes', typed: 'attributes::jsonb' },
  { column: 'field_times', typed: 'field_times::jsonb' },
];
const TEXT_PROPERTIES = [...FIELD_PROPERTIES, ...namesOf(NATIONAL_ID_COLUMNS)];
const TEXT_COLUMNS = TEXTS.map(({ column }) => column).join(', ');

const COLUMNS = `id, version, updated_at, ${TEXT_COLUMNS}`;

/** The columns, in the order of the parameters from the second on. */
const GIVEN = `unnest($2::uuid[], $3::int[], $4::timestamptz[], ${TEXTS.map((_, at) => `$${at + 5}::text[]`).join(', ')})
  AS given (${COLUMNS})`;

const INSERT = `
  INSERT INTO contacts (organization_id, source, created_at, ${COLUMNS})
  SELECT $1, $${TEXTS.length + 5}, $${TEXTS.length + 6}, id, version, updated_at, ${TEXTS.map(({ typed }) => typed).join(', ')}
    FROM ${GIVEN}`;

const BEGIN_ACTIVITY = `
  INSERT INTO contact_activity (organization_id, contact_id, last_seen_at)
  SELECT $1, id, $3 FROM unnest($2::uuid[]) AS id`;

const UPDATE = `
  UPDATE contacts AS contact
     SET version = given.version, updated_at = given.updated_at,
         ${TEXTS.map(({ column, typed }) => `${column} = given.${typed}`).join(', ')}
    FROM ${GIVEN}
   WHERE contact.organization_id = $1 AND contact.id = given.id`;

/** Only of contacts that are still deleted: a restore of one locks the same row. */
const YIELD = `
  WITH owner AS (
    SELECT contact.id, contested.identity_id
      FROM unnest($2::uuid[], $3::uuid[]) AS contested (identity_id, contact_id)
      JOIN contacts AS contact ON contact.organization_id = $1 AND contact.id = contested.contact_id
     WHERE contact.deleted_at IS NOT NULL
     ORDER BY contact.id FOR NO KEY UPDATE OF contact)
  UPDATE identities AS identity SET yielded_at = now() FROM owner
   WHERE identity.organization_id = $1 AND identity.id = owner.identity_id AND identity.contact_id = owner.id
     AND identity.yielded_at IS NULL
  RETURNING identity.id`;

const RELEASE = 'DELETE FROM identities WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/** In one order for all who claim several: they wait for each other instead of deadlocking. */
const CLAIM = `
  WITH claimed AS (
    INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at,
                            last_seen_at, created_at, updated_at)
    SELECT $1, id, contact_id, type, value, normal_value, $7, $8, $8, $8, $8
      FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[])
        AS given (id, contact_id, type, value, normal_value)
     ORDER BY type, normal_value
    ON CONFLICT (organization_id, type, normal_value) WHERE yielded_at IS NULL DO NOTHING
    RETURNING 1)
  SELECT count(*)::int AS count FROM claimed`;

/** What a batch came to. */
interface WrittenBatch {
  readonly drafts: readonly Draft[];
  readonly changes: readonly DraftChange[];
  readonly yielded: readonly OwnedIdentity[];
  readonly source: string;
  readonly now: Date;
}

/**
 * Writes contacts and identities, in a few statements for all.
 * @throws WriteConflict when another transaction has claimed what was free
 */
export async function writeDrafts(tx: Transaction, batch: WrittenBatch): Promise<void> {
  const { drafts, source, now } = batch;
  const created = drafts.filter((draft) => draft.created).map(({ contact }) => contact);
  const changed = drafts.filter((draft) => !draft.created && draft.changed).map(({ contact }) => contact);
  await yieldDeleted(tx, batch.yielded);
  try {
    if (created.length > 0) {
      await tx.prepared(INSERT, [...valuesOf(tx, created), source, now]);
      await tx.prepared(BEGIN_ACTIVITY, [tx.organizationId, uuids(created.map(({ id }) => id)), now]);
    }
    if (changed.length > 0) await tx.prepared(UPDATE, valuesOf(tx, changed));
  } catch (error) {
    if (postgresFailure(error)?.constraint !== 'contacts_national_id') throw error;
    throw new WriteConflict('A national id was taken meanwhile', { cause: error });
  }
  await moveIdentities(tx, batch);
}

async function yieldDeleted(tx: Transaction, yielded: readonly OwnedIdentity[]): Promise<void> {
  if (yielded.length === 0) return;
  const rows = await tx.query(YIELD, [
    tx.organizationId,
    uuids(yielded.map(({ id }) => id)),
    uuids(yielded.map(({ contactId }) => contactId)),
  ]);
  if (rows.length !== yielded.length) throw new WriteConflict('A deleted contact was restored meanwhile');
}

/** What came and went within the batch was never there. */
async function moveIdentities(tx: Transaction, { changes, source, now }: WrittenBatch): Promise<void> {
  const removed = new Set(changes.flatMap((change) => change.removed.map(({ id }) => id)));
  const added = changes.flatMap((change) => change.added).filter(({ id }) => !removed.has(id));
  const gone = changes.flatMap((change) => change.removed).filter(({ stored }) => stored);
  if (gone.length > 0) await tx.query(RELEASE, [tx.organizationId, uuids(gone.map(({ id }) => id))]);
  if (added.length === 0) return;
  const [claimed] = await tx.prepared<{ count: number }>(CLAIM, [
    tx.organizationId,
    uuids(added.map(({ id }) => id)),
    uuids(added.map(({ contactId }) => contactId)),
    texts(added.map(({ type }) => type)),
    texts(added.map(({ value }) => value)),
    texts(added.map(({ normal }) => normal)),
    source,
    now,
  ]);
  if (claimed?.count !== added.length)
    throw new WriteConflict('An identity was claimed by another contact meanwhile');
}

function valuesOf(tx: Transaction, contacts: readonly Contact[]): unknown[] {
  const text = (read: (contact: Contact) => string | null): Buffer => texts(contacts.map(read));
  return [
    tx.organizationId,
    uuids(contacts.map(({ id }) => id)),
    integers(contacts.map(({ version }) => version)),
    timestamps(contacts.map(({ updatedAt }) => updatedAt)),
    ...TEXT_PROPERTIES.map((property) => text((contact) => contact[property])),
    text(({ attributes }) => JSON.stringify(attributes)),
    text(({ fieldTimes }) => JSON.stringify(fieldTimes)),
  ];
}
