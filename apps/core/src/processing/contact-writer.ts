import { WriteConflict, type Transaction } from '@customer-platform/database';
import { columnsOf } from '../vocabulary/contacts/contact-columns.js';
import { TRAIT_FIELDS } from '../vocabulary/contacts/contact-field-table.js';
import { PROFILE_PROPERTIES, type ContactProfile } from '../vocabulary/contacts/contact-profile.js';
import type { ChunkContact, ChunkIdentity } from './chunk-contact.js';
import type { ClaimOutcome } from './identity-claims.js';

/** Columns that are given as text, the external id first. */
const TEXTS = [
  ...columnsOf(['external_id', ...TRAIT_FIELDS]),
  { column: 'attributes', typed: 'attributes::jsonb' },
  { column: 'field_times', typed: 'field_times::jsonb' },
];
const COLUMNS = `organization_id, id, version, source, ${TEXTS.map(({ column }) => column).join(', ')}`;
const GIVEN = `unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], ${TEXTS.map((_, at) => `$${at + 5}::text[]`).join(', ')})
      AS given (${COLUMNS})`;

const INSERT_CONTACTS = `
  INSERT INTO contacts (${COLUMNS})
  SELECT organization_id, id, version, source, ${TEXTS.map(({ typed }) => typed).join(', ')} FROM ${GIVEN}`;

const INSERT_ACTIVITY = `
  INSERT INTO contact_activity (organization_id, contact_id, last_seen_at)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[])`;

/** A field that was only confirmed changes `field_times`, and neither version nor `updated_at`, which is the ETag. */
const UPDATE_CONTACTS = `
  UPDATE contacts AS contact
     SET updated_at = CASE WHEN contact.version = given.version THEN contact.updated_at
                           ELSE greatest(now(), contact.updated_at + interval '1 ms') END,
         version = given.version,
         ${TEXTS.filter(({ column }) => column !== 'external_id')
           .map(({ column, typed }) => `${column} = given.${typed}`)
           .join(', ')}
    FROM ${GIVEN}
   WHERE contact.organization_id = given.organization_id AND contact.id = given.id`;

const INSERT_IDENTITIES = `
  INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at)
  SELECT organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
                $9::timestamptz[])
      AS identity (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at)
   ORDER BY organization_id, type, normal_value
  ON CONFLICT (organization_id, type, normal_value) WHERE yielded_at IS NULL DO NOTHING
  RETURNING id`;

const DELETE_IDENTITIES = `
  DELETE FROM identities AS identity USING unnest($1::uuid[], $2::uuid[]) AS removed (organization_id, id)
   WHERE identity.organization_id = removed.organization_id AND identity.id = removed.id`;

const TOUCH_IDENTITIES = `
  UPDATE identities AS identity SET last_seen_at = greatest(identity.last_seen_at, seen.seen_at), updated_at = now()
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS seen (organization_id, id, seen_at)
   WHERE identity.organization_id = seen.organization_id AND identity.id = seen.id`;

/** Inserts the new contacts and updates those that an identify changed. */
export async function writeContacts(tx: Transaction, contacts: readonly ChunkContact[]): Promise<void> {
  const created = contacts.filter((contact) => contact.created);
  const changed = contacts.filter((contact) => !contact.created && contact.changed);
  if (created.length > 0) {
    await tx.prepared(INSERT_CONTACTS, columns(created));
    await tx.prepared(INSERT_ACTIVITY, [
      created.map(({ organizationId }) => organizationId),
      created.map(({ id }) => id),
      created.map(({ seenAt }) => seenAt),
    ]);
  }
  if (changed.length > 0) await tx.prepared(UPDATE_CONTACTS, columns(changed));
}

function columns(contacts: readonly ChunkContact[]): unknown[] {
  const of = <T>(read: (profile: ContactProfile) => T): (T | null)[] =>
    contacts.map(({ profile }) => (profile ? read(profile) : null));
  return [
    contacts.map(({ organizationId }) => organizationId),
    contacts.map(({ id }) => id),
    contacts.map(({ version }) => version),
    contacts.map(({ created }) => created?.by.kind ?? null),
    contacts.map(({ externalId }) => externalId),
    ...PROFILE_PROPERTIES.map((property) => of((profile) => profile[property])),
    of((profile) => JSON.stringify(profile.attributes)),
    of((profile) => JSON.stringify(profile.fieldTimes)),
  ];
}

/** The identities a chunk adds, takes away and has seen. */
interface IdentityChanges {
  readonly added: { identity: ChunkIdentity; source: string }[];
  readonly removed: ChunkIdentity[];
  readonly seen: ChunkIdentity[];
}

/** How old an identity's `last_seen_at` may grow before an event renews it; one named by an identify is exact. */
const SEEN_GRAIN_MS = 3_600_000;

/** What claims and new contacts do to the identities, in the end. */
export function identityChanges(
  contacts: readonly ChunkContact[],
  found: readonly ChunkIdentity[],
  outcomes: readonly ClaimOutcome[],
): IdentityChanges {
  const added = new Map<string, { identity: ChunkIdentity; source: string }>();
  const removed: ChunkIdentity[] = [];
  const seen = new Set<ChunkIdentity>();
  for (const { created } of contacts) {
    if (created) added.set(created.identity.id, { identity: created.identity, source: created.by.kind });
  }
  for (const outcome of outcomes) {
    if ('seen' in outcome) seen.add(outcome.seen);
    if (!('added' in outcome)) continue;
    added.set(outcome.added.id, { identity: outcome.added, source: 'identify' });
    const { evicted } = outcome;
    // What came and went within the chunk was never there.
    if (evicted && !added.delete(evicted.id)) removed.push(evicted);
  }
  const byId = new Map(contacts.map((contact) => [contact.id, contact]));
  for (const identity of found) {
    const seenAt = byId.get(identity.contactId)?.seenAt ?? identity.lastSeenAt;
    if (Date.parse(seenAt) - Date.parse(identity.lastSeenAt) < SEEN_GRAIN_MS) continue;
    identity.lastSeenAt = seenAt;
    seen.add(identity);
  }
  return { added: [...added.values()], removed, seen: [...seen].filter(({ id }) => !added.has(id)) };
}

/** @throws WriteConflict when an identity that was free has been claimed meanwhile */
export async function writeIdentities(
  tx: Transaction,
  { added, removed, seen }: IdentityChanges,
): Promise<void> {
  if (removed.length > 0) await tx.prepared(DELETE_IDENTITIES, keysOf(removed));
  if (added.length > 0) {
    const of = (read: (identity: ChunkIdentity) => string): string[] =>
      added.map(({ identity }) => read(identity));
    const inserted = await tx.prepared(INSERT_IDENTITIES, [
      ...keysOf(added.map(({ identity }) => identity)),
      of(({ contactId }) => contactId),
      of(({ type }) => type),
      of(({ value }) => value),
      of(({ normal }) => normal),
      added.map(({ source }) => source),
      of(({ firstSeenAt }) => firstSeenAt),
      of(({ lastSeenAt }) => lastSeenAt),
    ]);
    if (inserted.length !== added.length)
      throw new WriteConflict('An identity was claimed by another contact meanwhile');
  }
  if (seen.length > 0) {
    await tx.prepared(TOUCH_IDENTITIES, [...keysOf(seen), seen.map(({ lastSeenAt }) => lastSeenAt)]);
  }
}

function keysOf(identities: readonly ChunkIdentity[]): [organizationIds: string[], ids: string[]] {
  return [identities.map(({ organizationId }) => organizationId), identities.map(({ id }) => id)];
}
