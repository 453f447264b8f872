import { newId, type Transaction } from '@customer-platform/database';
import { emptyProfile, type ContactProfile } from '../contacts/contact-profile.js';
import { later, RaceLost, type ContactState, type IdentityState } from './contact-state.js';
import type { WorkItem } from './work-item.js';

const OWNERS = `
  SELECT i.id, i.contact_id AS "contactId", i.origin_id AS "originId", i.type, i.value, i.normal_value AS normal,
         i.first_seen_at AS "firstSeenAt", i.last_seen_at AS "lastSeenAt"
    FROM unnest($2::text[], $3::text[]) AS wanted (type, normal_value)
    JOIN identities i
      ON i.organization_id = $1 AND i.type = wanted.type AND i.normal_value = wanted.normal_value
     AND i.yielded_at IS NULL`;

const TOUCH = `
  UPDATE contact_activity AS activity SET last_seen_at = greatest(activity.last_seen_at, seen.seen_at)
    FROM unnest($2::uuid[], $3::timestamptz[]) AS seen (contact_id, seen_at)
   WHERE activity.organization_id = $1 AND activity.contact_id = seen.contact_id
  RETURNING activity.contact_id`;

const STATES = `
  SELECT id, external_id, version, deleted_at IS NOT NULL AS deleted
    FROM contacts
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND merged_into IS NULL AND erased_at IS NULL`;

const PROFILES = `
  SELECT id, external_id, version, deleted_at IS NOT NULL AS deleted, email, email_normal AS "emailNormal", phone,
         first_name, last_name, locale, timezone, country, attributes, field_times AS times
    FROM contacts
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND merged_into IS NULL AND erased_at IS NULL
   ORDER BY id FOR NO KEY UPDATE`;

const CONTACT_OF_EVENT = `SELECT contact_id AS id FROM events WHERE organization_id = $1 AND id = $2`;

const LOCK_ACTIVITY = `
  SELECT last_seen_at AS "seenAt" FROM contact_activity
   WHERE organization_id = $1 AND contact_id = $2 FOR UPDATE`;

interface StateRow {
  id: string;
  external_id: string | null;
  version: number;
  deleted: boolean;
}

type ProfileRow = StateRow & ContactProfile;

/** The contacts of a chunk's events, by external id. */
export interface ResolvedContacts {
  readonly byExternalId: Map<string, ContactState>;
  /** The identities by which existing contacts were found. */
  readonly found: IdentityState[];
}

/**
 * Finds the contact of every event by its external id, and makes up the contacts that do not exist yet. Existing
 * ones are locked: their rows of activity, and the profiles that an identify may change.
 * @throws RaceLost when one was merged, purged or erased meanwhile
 */
export async function resolveContacts(
  tx: Transaction,
  organizationId: string,
  items: readonly WorkItem[],
): Promise<ResolvedContacts> {
  const seen = latestByExternalId(items);
  const externalIds = [...seen.keys()];
  const found = await ownersOf(
    tx,
    organizationId,
    externalIds.map((value) => ({ type: 'external_id', normal: value })),
  );
  const states = await loadStates(tx, organizationId, items, found, seen);
  await demandStillTheirs(tx, organizationId, found);
  const byExternalId = new Map<string, ContactState>();
  for (const identity of found) {
    const state = states.get(identity.contactId);
    if (!state) throw new RaceLost('A contact was merged, purged or erased while its event was processed');
    byExternalId.set(identity.normal, state);
  }
  for (const item of items) {
    const { external_id: externalId } = item.body;
    if (!byExternalId.has(externalId)) byExternalId.set(externalId, newContact(item, seen.get(externalId)));
  }
  return { byExternalId, found };
}

/**
 * What a merge has moved an undo may have taken back before the contact was locked; of a contact that was merged only
 * then, the contact itself tells.
 * @throws RaceLost
 */
async function demandStillTheirs(
  tx: Transaction,
  organizationId: string,
  found: readonly IdentityState[],
): Promise<void> {
  const moved = found.filter(({ originId }) => originId !== null);
  const owners = new Map((await ownersOf(tx, organizationId, moved)).map((own) => [own.id, own.contactId]));
  if (moved.every(({ id, contactId }) => owners.get(id) === contactId)) return;
  throw new RaceLost('A merge was undone while an event of one of its contacts was processed');
}

/** The identities that have these values, whoever owns them. */
export async function ownersOf(
  tx: Transaction,
  organizationId: string,
  wanted: readonly { type: string; normal: string }[],
): Promise<IdentityState[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<IdentityRow>(OWNERS, [
    organizationId,
    wanted.map(({ type }) => type),
    wanted.map(({ normal }) => normal),
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

async function loadStates(
  tx: Transaction,
  organizationId: string,
  items: readonly WorkItem[],
  found: readonly IdentityState[],
  seen: ReadonlyMap<string, string>,
): Promise<Map<string, ContactState>> {
  if (found.length === 0) return new Map();
  const seenAt = await touch(tx, organizationId, found, seen);
  const identified = new Set(
    items.filter(({ kind }) => kind === 'identify').map(({ body }) => body.external_id),
  );
  const withProfile = found.filter(({ normal }) => identified.has(normal)).map(({ contactId }) => contactId);
  const without = [...seenAt.keys()].filter((id) => !withProfile.includes(id));
  const rows: (StateRow | ProfileRow)[] = [];
  if (without.length > 0) rows.push(...(await tx.query<StateRow>(STATES, [organizationId, without])));
  if (withProfile.length > 0)
    rows.push(...(await tx.query<ProfileRow>(PROFILES, [organizationId, withProfile])));
  return new Map(rows.map((row) => [row.id, toState(row, seenAt.get(row.id) ?? '')]));
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
  const [row] = await tx.query<ProfileRow>(PROFILES, [organizationId, [contactId]]);
  if (!seen || !row || (await owner()) !== contactId)
    throw new RaceLost('The contact of a stored event was merged, parted or purged meanwhile');
  return toState(row, seen.seenAt.toISOString());
}

/** Notes when contacts were seen, and thereby locks them until the chunk is committed. */
async function touch(
  tx: Transaction,
  organizationId: string,
  found: readonly IdentityState[],
  seen: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const seenAt = new Map<string, string>();
  for (const { contactId, normal } of found) {
    seenAt.set(contactId, later(seenAt.get(contactId), seen.get(normal) ?? ''));
  }
  // Two external ids of one contact may come by different ways: all who lock contacts do so in one order.
  const inOrder = [...seenAt].sort(([one], [other]) => (one < other ? -1 : 1));
  const touched = await tx.query(TOUCH, [
    organizationId,
    inOrder.map(([id]) => id),
    inOrder.map(([, at]) => at),
  ]);
  if (touched.length !== seenAt.size)
    throw new RaceLost('A contact was purged or erased while its event was processed');
  return seenAt;
}

function toState(row: StateRow | ProfileRow, seenAt: string): ContactState {
  const { id, external_id: externalId, version, deleted } = row;
  const profile = 'times' in row ? profileOf(row) : undefined;
  return { id, externalId, version, deleted, profile, changed: false, seenAt };
}

function profileOf({
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
  const { external_id: externalId } = item.body;
  const seen = { firstSeenAt: item.occurredAt, lastSeenAt: seenAt };
  const identity = {
    id: newId(),
    contactId: id,
    originId: null,
    type: 'external_id',
    value: externalId,
    normal: externalId,
    ...seen,
  };
  return {
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

function latestByExternalId(items: readonly WorkItem[]): Map<string, string> {
  const seen = new Map<string, string>();
  for (const { body, occurredAt } of items) {
    seen.set(body.external_id, later(seen.get(body.external_id), occurredAt));
  }
  return seen;
}
