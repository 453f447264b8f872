import {
  newId,
  texts,
  timestamps,
  uuids,
  WriteConflict,
  type Transaction,
} from '@customer-platform/database';
import { asProperties } from '../vocabulary/contacts/contact-columns.js';
import { TRAIT_FIELDS } from '../vocabulary/contacts/contact-field-table.js';
import { emptyProfile, type ContactProfile } from '../vocabulary/contacts/contact-profile.js';
import type { ErasedIdentifiers } from '../blocklist/erased-identifiers.js';
import { eventsOfErased } from './erased-people.js';
import { later, within, type ChunkContact, type ChunkIdentity } from './chunk-contact.js';
import type { WorkItem } from '../vocabulary/events/work-item.js';

/*
 * What is wanted is sought row by row, however few rows a table that was not analyzed yet is taken to have: with a plain
 * join the planner reads the table once for each row (3,000 identities and 500 events: 1.4 s instead of 2 ms).
 */

const OWNERS = `
  SELECT i.organization_id AS "organizationId", i.id, i.contact_id AS "contactId", i.origin_id AS "originId", i.type, i.value, i.normal_value AS normal,
         i.first_seen_at AS "firstSeenAt", i.last_seen_at AS "lastSeenAt"
    FROM unnest($1::uuid[], $2::text[], $3::text[]) AS wanted (organization_id, type, normal_value),
         LATERAL (SELECT * FROM identities
                   WHERE organization_id = wanted.organization_id AND type = wanted.type
                     AND normal_value = wanted.normal_value AND yielded_at IS NULL
                  OFFSET 0) AS i`;

const TOUCH = `
  UPDATE contact_activity AS activity SET last_seen_at = greatest(activity.last_seen_at, seen.seen_at)
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS seen (organization_id, contact_id, seen_at)
   WHERE activity.organization_id = seen.organization_id AND activity.contact_id = seen.contact_id
  RETURNING activity.contact_id`;

const CONTACT = `contact.organization_id AS "organizationId", contact.id, external_id AS "externalId", version,
         deleted_at IS NOT NULL AS deleted`;

const STATES = `
  SELECT ${CONTACT}
    FROM unnest($1::uuid[], $2::uuid[]) AS wanted (organization_id, id),
         LATERAL (SELECT * FROM contacts WHERE organization_id = wanted.organization_id AND id = wanted.id OFFSET 0)
           AS contact
   WHERE merged_into IS NULL AND erased_at IS NULL`;

const PROFILES = `
  SELECT ${CONTACT}, ${asProperties(TRAIT_FIELDS)}, attributes, field_times AS "fieldTimes"
    FROM (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS given (organization_id, id)
           ORDER BY organization_id, id) AS wanted,
         LATERAL (SELECT * FROM contacts
                   WHERE organization_id = wanted.organization_id AND id = wanted.id
                     AND merged_into IS NULL AND erased_at IS NULL
                  FOR NO KEY UPDATE) AS contact`;

const CONTACT_OF_EVENT = `SELECT contact_id AS id FROM events WHERE organization_id = $1 AND id = $2`;

const LOCK_ACTIVITY = `
  SELECT last_seen_at AS "seenAt" FROM contact_activity
   WHERE organization_id = $1 AND contact_id = $2 FOR UPDATE`;

type StateRow = Pick<ChunkContact, 'organizationId' | 'id' | 'externalId' | 'version' | 'deleted'>;
type ProfileRow = StateRow & ContactProfile;

/** The contacts of a chunk's events. */
interface ResolvedContacts {
  /** The events that have a contact. */
  readonly items: readonly WorkItem[];
  readonly contactOf: (item: WorkItem) => ChunkContact;
  readonly contacts: readonly ChunkContact[];
  /** The identities by which existing contacts were found. */
  readonly found: readonly ChunkIdentity[];
  /** From which contacts merges took those identities, by organization and external id. */
  readonly origins: ReadonlyMap<string, string | null>;
  /** Those that have no contact, and make none: they are of people who were erased. */
  readonly erased: ReadonlySet<WorkItem>;
}

const NOTHING: ResolvedContacts = {
  items: [],
  contactOf: () => {
    throw new TypeError('No events were resolved to contacts');
  },
  contacts: [],
  found: [],
  origins: new Map(),
  erased: new Set(),
};

/**
 * Finds the contact of every event by its external id, and makes up the contacts that do not exist yet. Existing
 * ones are locked: their rows of activity, and the profiles that an identify may change.
 * @throws WriteConflict when one was merged, purged or erased meanwhile
 */
export async function resolveContacts(
  tx: Transaction,
  given: readonly WorkItem[],
  blocklist: ErasedIdentifiers,
): Promise<ResolvedContacts> {
  if (given.length === 0) return NOTHING;
  const known = namedContacts(given);
  const owners = await ownersOf(tx, [...known.values()]);
  const states = await loadStates(tx, owners, known);
  await demandStillTheirs(tx, owners);
  const owned = new Map<string, ChunkContact>();
  for (const identity of owners) {
    const state = states.get(identity.contactId);
    if (!state)
      throw new WriteConflict('A contact was merged, purged or erased while its event was processed');
    owned.set(within(identity.organizationId, identity.normal), state);
  }
  const erased = await eventsOfErased(tx, blocklist, given, (item) => owned.get(nameOf(item)));
  const items = erased.size === 0 ? given : given.filter((item) => !erased.has(item));
  const named = erased.size === 0 ? known : namedContacts(items);
  const found = owners.filter(({ organizationId, normal }) => named.has(within(organizationId, normal)));
  const byExternalId = new Map([...owned].filter(([name]) => named.has(name)));
  for (const item of items) {
    const name = nameOf(item);
    if (!byExternalId.has(name)) byExternalId.set(name, newContact(item, named.get(name)?.seenAt));
  }
  const contactOf = (item: WorkItem): ChunkContact => {
    const contact = byExternalId.get(nameOf(item));
    if (!contact) throw new TypeError('An event was not resolved to a contact');
    return contact;
  };
  const origins = new Map(found.map((own) => [within(own.organizationId, own.normal), own.originId]));
  const contacts = [...new Set(byExternalId.values())];
  return { items, contactOf, contacts, found, origins, erased };
}

function nameOf({ organizationId, body }: WorkItem): string {
  return within(organizationId, body.external_id);
}

/**
 * What a merge has moved an undo may have taken back before the contact was locked; of a contact that was merged only
 * then, the contact itself tells.
 * @throws WriteConflict
 */
async function demandStillTheirs(tx: Transaction, found: readonly ChunkIdentity[]): Promise<void> {
  const moved = found.filter(({ originId }) => originId !== null);
  const owners = new Map((await ownersOf(tx, moved)).map((own) => [own.id, own.contactId]));
  if (moved.every(({ id, contactId }) => owners.get(id) === contactId)) return;
  throw new WriteConflict('A merge was undone while an event of one of its contacts was processed');
}

/** The identities that have these values, whoever in the organization owns them. */
export async function ownersOf(
  tx: Transaction,
  wanted: readonly Pick<ChunkIdentity, 'organizationId' | 'type' | 'normal'>[],
): Promise<ChunkIdentity[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.prepared<IdentityRow>(OWNERS, [
    uuids(wanted.map(({ organizationId }) => organizationId)),
    texts(wanted.map(({ type }) => type)),
    texts(wanted.map(({ normal }) => normal)),
  ]);
  return rows.map(toChunkIdentity);
}

/** An identity as a query gives it. */
export type IdentityRow = Omit<ChunkIdentity, 'firstSeenAt' | 'lastSeenAt'> & {
  firstSeenAt: Date;
  lastSeenAt: Date;
};

export function toChunkIdentity(row: IdentityRow): ChunkIdentity {
  return { ...row, firstSeenAt: row.firstSeenAt.toISOString(), lastSeenAt: row.lastSeenAt.toISOString() };
}

/** By id: ids of contacts are unique over all organizations. */
async function loadStates(
  tx: Transaction,
  found: readonly ChunkIdentity[],
  named: ReadonlyMap<string, Named>,
): Promise<Map<string, ChunkContact>> {
  if (found.length === 0) return new Map();
  const seen = await touch(tx, found, named);
  const { true: withProfile = [], false: without = [] } = Object.groupBy(seen.values(), (contact) =>
    contact.identified ? 'true' : 'false',
  );
  const rows: (StateRow | ProfileRow)[] = [];
  if (without.length > 0) rows.push(...(await tx.prepared<StateRow>(STATES, keysOf(without))));
  if (withProfile.length > 0) rows.push(...(await tx.prepared<ProfileRow>(PROFILES, keysOf(withProfile))));
  return new Map(rows.map((row) => [row.id, toState(row, seen.get(row.id)?.seenAt ?? '')]));
}

function keysOf(contacts: readonly SeenId[]): [organizationIds: Buffer, ids: Buffer] {
  return [uuids(contacts.map(({ organizationId }) => organizationId)), uuids(contacts.map(({ id }) => id))];
}

/**
 * The contact on which an event is stored, with its profile, locked as {@link resolveContacts} locks.
 * @throws WriteConflict when the event is being moved to another
 */
export async function lockContactOf(
  tx: Transaction,
  organizationId: string,
  eventId: string,
): Promise<ChunkContact> {
  const owner = async (): Promise<string | undefined> =>
    (await tx.query<{ id: string }>(CONTACT_OF_EVENT, [organizationId, eventId]))[0]?.id;
  const contactId = await owner();
  const [seen] = await tx.query<{ seenAt: Date }>(LOCK_ACTIVITY, [organizationId, contactId]);
  const [row] = await tx.query<ProfileRow>(PROFILES, [[organizationId], [contactId]]);
  if (!seen || !row || (await owner()) !== contactId)
    throw new WriteConflict('The contact of a stored event was merged, parted or purged meanwhile');
  return toState(row, seen.seenAt.toISOString());
}

/** What the events of a chunk say of a contact. */
interface Sighting {
  /** When the latest of them happened. */
  seenAt: string;
  /** Whether one of them is an identify, which may change its profile. */
  identified: boolean;
}

/** By its id, of one that was found by one or more of its external ids. */
type SeenId = Sighting & Pick<ChunkContact, 'organizationId' | 'id'>;

/** By its external id. */
type Named = Sighting & Pick<ChunkIdentity, 'organizationId' | 'type' | 'normal'>;

/** Notes when contacts were seen, and thereby locks them until the chunk is committed. */
async function touch(
  tx: Transaction,
  found: readonly ChunkIdentity[],
  named: ReadonlyMap<string, Named>,
): Promise<Map<string, SeenId>> {
  const contacts = new Map<string, SeenId>();
  for (const { organizationId, contactId: id, normal } of found) {
    const name = named.get(within(organizationId, normal));
    const contact = contacts.get(id) ?? { organizationId, id, seenAt: '', identified: false };
    contact.seenAt = later(contact.seenAt, name?.seenAt ?? '');
    contact.identified ||= name?.identified === true;
    contacts.set(id, contact);
  }
  // Two external ids of one contact may come by different ways: all who lock contacts do so in one order.
  const inOrder = [...contacts.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  const touched = await tx.prepared(TOUCH, [
    ...keysOf(inOrder),
    timestamps(inOrder.map(({ seenAt }) => seenAt)),
  ]);
  if (touched.length !== contacts.size)
    throw new WriteConflict('A contact was purged or erased while its event was processed');
  return contacts;
}

function toState(row: StateRow | ProfileRow, seenAt: string): ChunkContact {
  const { organizationId, id, externalId, version, deleted, ...rest } = row;
  const profile = 'fieldTimes' in rest ? rest : undefined;
  return { organizationId, id, externalId, version, deleted, profile, changed: false, seenAt };
}

function newContact(item: WorkItem, seenAt = item.occurredAt): ChunkContact {
  const id = newId();
  const { organizationId } = item;
  const { external_id: externalId } = item.body;
  const seen = { firstSeenAt: item.occurredAt, lastSeenAt: seenAt };
  const identity = {
    organizationId,
    id: newId(),
    contactId: id,
    originId: null,
    type: 'external_id',
    value: externalId,
    normal: externalId,
    ...seen,
  };
  return {
    organizationId,
    id,
    externalId,
    created: { by: item, identity },
    deleted: false,
    version: 1,
    profile: emptyProfile(),
    changed: false,
    seenAt,
  };
}

function namedContacts(items: readonly WorkItem[]): Map<string, Named> {
  const named = new Map<string, Named>();
  for (const { organizationId, body, occurredAt, kind } of items) {
    const normal = body.external_id;
    const name = within(organizationId, normal);
    const contact = named.get(name) ?? {
      organizationId,
      type: 'external_id',
      normal,
      seenAt: occurredAt,
      identified: false,
    };
    contact.seenAt = later(contact.seenAt, occurredAt);
    contact.identified ||= kind === 'identify';
    named.set(name, contact);
  }
  return named;
}
