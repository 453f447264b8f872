import { newId, texts, timestamps, type Transaction, uuids } from '@customer-platform/database';
import { emptyProfile, type ContactProfile } from '../contacts/contact-profile.js';
import type { ErasedIdentifiers } from '../subject-requests/blocklist/erased-identifiers.js';
import { eventsOfErased } from './erased-people.js';
import { later, RaceLost, within, type ContactState, type IdentityState } from './contact-state.js';
import type { WorkItem } from './work-item.js';

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

const STATES = `
  SELECT contact.organization_id, contact.id, external_id, version, deleted_at IS NOT NULL AS deleted
    FROM unnest($1::uuid[], $2::uuid[]) AS wanted (organization_id, id),
         LATERAL (SELECT * FROM contacts WHERE organization_id = wanted.organization_id AND id = wanted.id OFFSET 0)
           AS contact
   WHERE merged_into IS NULL AND erased_at IS NULL`;

const PROFILES = `
  SELECT contact.organization_id, contact.id, external_id, version, deleted_at IS NOT NULL AS deleted, email,
         email_normal AS "emailNormal", phone, first_name, last_name, locale, timezone, country, attributes,
         field_times AS times
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

interface StateRow {
  organization_id: string;
  id: string;
  external_id: string | null;
  version: number;
  deleted: boolean;
}

type ProfileRow = StateRow & ContactProfile;

/** The contacts of a chunk's events, by organization and external id. */
export interface ResolvedContacts {
  readonly byExternalId: Map<string, ContactState>;
  /** The identities by which existing contacts were found. */
  readonly found: IdentityState[];
  /** Those that have no contact, and make none: they are of people who were erased. */
  readonly erased: ReadonlySet<WorkItem>;
}

/**
 * Finds the contact of every event by its external id, and makes up the contacts that do not exist yet. Existing
 * ones are locked: their rows of activity, and the profiles that an identify may change.
 * @throws RaceLost when one was merged, purged or erased meanwhile
 */
export async function resolveContacts(
  tx: Transaction,
  given: readonly WorkItem[],
  blocklist: ErasedIdentifiers,
): Promise<ResolvedContacts> {
  const known = namedContacts(given);
  const owners = await ownersOf(tx, [...known.values()]);
  const states = await loadStates(tx, owners, known);
  await demandStillTheirs(tx, owners);
  const owned = new Map<string, ContactState>();
  for (const identity of owners) {
    const state = states.get(identity.contactId);
    if (!state) throw new RaceLost('A contact was merged, purged or erased while its event was processed');
    owned.set(within(identity.organizationId, identity.normal), state);
  }
  const contactOf = ({ organizationId, body }: WorkItem): ContactState | undefined =>
    owned.get(within(organizationId, body.external_id));
  const erased = await eventsOfErased(tx, blocklist, given, contactOf);
  const items = erased.size === 0 ? given : given.filter((item) => !erased.has(item));
  const named = erased.size === 0 ? known : namedContacts(items);
  const found = owners.filter(({ organizationId, normal }) => named.has(within(organizationId, normal)));
  const byExternalId = new Map([...owned].filter(([name]) => named.has(name)));
  for (const item of items) {
    const name = within(item.organizationId, item.body.external_id);
    if (!byExternalId.has(name)) byExternalId.set(name, newContact(item, named.get(name)?.seenAt));
  }
  return { byExternalId, found, erased };
}

/**
 * What a merge has moved an undo may have taken back before the contact was locked; of a contact that was merged only
 * then, the contact itself tells.
 * @throws RaceLost
 */
async function demandStillTheirs(tx: Transaction, found: readonly IdentityState[]): Promise<void> {
  const moved = found.filter(({ originId }) => originId !== null);
  const owners = new Map((await ownersOf(tx, moved)).map((own) => [own.id, own.contactId]));
  if (moved.every(({ id, contactId }) => owners.get(id) === contactId)) return;
  throw new RaceLost('A merge was undone while an event of one of its contacts was processed');
}

/** The identities that have these values, whoever in the organization owns them. */
export async function ownersOf(
  tx: Transaction,
  wanted: readonly Pick<IdentityState, 'organizationId' | 'type' | 'normal'>[],
): Promise<IdentityState[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.prepared<IdentityRow>(OWNERS, [
    uuids(wanted.map(({ organizationId }) => organizationId)),
    texts(wanted.map(({ type }) => type)),
    texts(wanted.map(({ normal }) => normal)),
  ]);
  return rows.map(toIdentityState);
}

/** An identity as a query gives it. */
export type IdentityRow = Omit<IdentityState, 'firstSeenAt' | 'lastSeenAt'> & {
  firstSeenAt: Date;
  lastSeenAt: Date;
};

export function toIdentityState(row: IdentityRow): IdentityState {
  return { ...row, firstSeenAt: row.firstSeenAt.toISOString(), lastSeenAt: row.lastSeenAt.toISOString() };
}

/** By id: ids of contacts are unique over all organizations. */
async function loadStates(
  tx: Transaction,
  found: readonly IdentityState[],
  named: ReadonlyMap<string, NamedContact>,
): Promise<Map<string, ContactState>> {
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

function keysOf(contacts: readonly SeenContact[]): [organizationIds: Buffer, ids: Buffer] {
  return [uuids(contacts.map(({ organizationId }) => organizationId)), uuids(contacts.map(({ id }) => id))];
}

/**
 * The contact on which an event is stored, with its profile, locked as {@link resolveContacts} locks.
 * @throws RaceLost when the event is being moved to another
 */
export async function lockContactOf(
  tx: Transaction,
  organizationId: string,
  eventId: string,
): Promise<ContactState> {
  const owner = async (): Promise<string | undefined> =>
    (await tx.query<{ id: string }>(CONTACT_OF_EVENT, [organizationId, eventId]))[0]?.id;
  const contactId = await owner();
  const [seen] = await tx.query<{ seenAt: Date }>(LOCK_ACTIVITY, [organizationId, contactId]);
  const [row] = await tx.query<ProfileRow>(PROFILES, [[organizationId], [contactId]]);
  if (!seen || !row || (await owner()) !== contactId)
    throw new RaceLost('The contact of a stored event was merged, parted or purged meanwhile');
  return toState(row, seen.seenAt.toISOString());
}

/** A contact that was found by one or more of its external ids. */
interface SeenContact {
  readonly organizationId: string;
  readonly id: string;
  seenAt: string;
  /** Whether an identify may change its profile. */
  identified: boolean;
}

/** Notes when contacts were seen, and thereby locks them until the chunk is committed. */
async function touch(
  tx: Transaction,
  found: readonly IdentityState[],
  named: ReadonlyMap<string, NamedContact>,
): Promise<Map<string, SeenContact>> {
  const contacts = new Map<string, SeenContact>();
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
    throw new RaceLost('A contact was purged or erased while its event was processed');
  return contacts;
}

function toState(row: StateRow | ProfileRow, seenAt: string): ContactState {
  const { organization_id: organizationId, id, external_id: externalId, version, deleted } = row;
  const profile = 'times' in row ? profileOf(row) : undefined;
  return { organizationId, id, externalId, version, deleted, profile, changed: false, seenAt };
}

function profileOf({
  organization_id: _o,
  id: _id,
  external_id: _e,
  version: _v,
  deleted: _d,
  ...profile
}: ProfileRow): ContactProfile {
  return profile;
}

function newContact(item: WorkItem, seenAt = item.occurredAt): ContactState {
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

/** A contact as the events of a chunk name it: by its external id. */
interface NamedContact {
  readonly organizationId: string;
  readonly type: 'external_id';
  readonly normal: string;
  /** When the latest of them happened. */
  seenAt: string;
  /** Whether one of them is an identify. */
  identified: boolean;
}

function namedContacts(items: readonly WorkItem[]): Map<string, NamedContact> {
  const named = new Map<string, NamedContact>();
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
