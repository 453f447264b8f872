import type { Transaction } from '@customer-platform/database';
import { columnsOf } from '../../vocabulary/contacts/contact-columns.js';
import { FIELD_NAMES, NATIONAL_ID_COLUMNS } from '../../vocabulary/contacts/contact-field-table.js';
import type { Identifier } from '../../blocklist/erased-identifiers.js';

/** The fields that several contacts may have alike, each by its index. */
const ELSEWHERE = [
  ['external_id', 'external_id'],
  ['email', 'email_normal'],
  ['phone', 'phone'],
] as const;

/**
 * What names the contacts, in their fields and among their identities, those that they yielded included. What somebody
 * else has, as an identity, one that was yielded included, or in a field, is theirs too: to block it would erase them.
 */
const IDENTIFIERS = `
  WITH named AS (
    SELECT type, normal_value AS normal FROM identities WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])
    UNION
    SELECT field.type, field.normal
      FROM contacts AS contact,
           LATERAL (VALUES ('external_id', external_id), ('email', email_normal), ('phone', phone),
                           ('national_id.' || national_id_type, national_id_index)) AS field (type, normal)
     WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND field.normal IS NOT NULL)
  SELECT type, normal FROM named
   WHERE NOT EXISTS (SELECT FROM identities AS other
                      WHERE other.organization_id = $1 AND other.type = named.type AND other.normal_value = named.normal
                        AND other.yielded_at IS NULL AND other.contact_id <> ALL($2::uuid[]))
     AND NOT EXISTS (SELECT FROM identities AS other
                      WHERE other.organization_id = $1 AND other.type = named.type AND other.normal_value = named.normal
                        AND other.yielded_at IS NOT NULL AND other.contact_id <> ALL($2::uuid[]))
     ${ELSEWHERE.map(
       ([type, column]) => `
     AND NOT EXISTS (SELECT FROM contacts AS other
                      WHERE named.type = '${type}' AND other.organization_id = $1 AND other.${column} = named.normal
                        AND other.id <> ALL($2::uuid[]))`,
     ).join('')}`;

const DROP = {
  identities:
    'DELETE FROM identities WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) RETURNING 1',
  suggestions: `
    DELETE FROM merge_suggestions
     WHERE organization_id = $1 AND (first_id = ANY($2::uuid[]) OR second_id = ANY($2::uuid[])) RETURNING 1`,
  claims:
    'DELETE FROM identity_claimants WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) RETURNING 1',
  /** That there was a merge stays, so that its undo is refused as what it is; what it moved of whom goes. */
  merges: `
    UPDATE contact_merges
       SET reason = NULL, changes = '[]',
           outcome = '{"fields": [], "consents": [], "moved": {"identities": 0, "events": 0, "consents": 0}, "blockers": []}'
     WHERE organization_id = $1 AND (survivor_id = ANY($2::uuid[]) OR merged_id = ANY($2::uuid[])) RETURNING 1`,
} as const;

const DROP_ACTIVITY =
  'DELETE FROM contact_activity WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

/** The row stays, for what its consents prove; by triggers the words of its search go with its fields. */
const BLANK = `
  UPDATE contacts
     SET ${[...columnsOf(FIELD_NAMES).map(({ column }) => column), ...Object.values(NATIONAL_ID_COLUMNS)]
       .map((column) => `${column} = NULL`)
       .join(', ')},
         attributes = '{}', field_times = '{"fields": {}, "attributes": {}}', version = version + 1, erased_at = $3,
         members_from = $3,
         updated_at = greatest($3, updated_at + interval '1 ms')
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND erased_at IS NULL
  RETURNING id, merged_into, deleted_at`;

/** A soft-deleted one was taken off the active ones when it was deleted, a merged one when it was merged. */
const COUNT = `
  INSERT INTO usage_days AS day (organization_id, day, partition, contacts_erased, contacts_deleted)
  VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, -1, $3, $4)
  ON CONFLICT (organization_id, day, partition) DO UPDATE
    SET contacts_erased = day.contacts_erased + excluded.contacts_erased,
        contacts_deleted = day.contacts_deleted + excluded.contacts_deleted`;

interface BlankedRow {
  id: string;
  merged_into: string | null;
  deleted_at: Date | null;
}

/** What was taken away of a person at once, by the name of the resource. */
type TakenAway = Record<string, number>;

/** What names the contacts, and nobody else. */
export function identifiersOf(tx: Transaction, contactIds: readonly string[]): Promise<Identifier[]> {
  return tx.query<Identifier>(IDENTIFIERS, [tx.organizationId, contactIds]);
}

/**
 * Takes the person out of their contacts, all of which are locked: profile, identities, what is suggested of them and
 * kept of merges. From the commit on they are found by nothing, and no token of a member holds.
 */
export async function forgetPerson(
  tx: Transaction,
  contactIds: readonly string[],
  now: Date,
): Promise<TakenAway> {
  const taken: TakenAway = {};
  for (const [name, statement] of Object.entries(DROP))
    taken[name] = (await tx.query(statement, [tx.organizationId, contactIds])).length;
  const blanked = await tx.query<BlankedRow>(BLANK, [tx.organizationId, contactIds, now]);
  await tx.query(DROP_ACTIVITY, [tx.organizationId, contactIds]);
  const standing = blanked.filter(({ merged_into: mergedInto }) => mergedInto === null);
  const deleted = standing.filter(({ deleted_at: deletedAt }) => deletedAt !== null);
  if (standing.length > 0) await tx.query(COUNT, [tx.organizationId, now, standing.length, -deleted.length]);
  return { contacts: blanked.length, ...taken };
}
