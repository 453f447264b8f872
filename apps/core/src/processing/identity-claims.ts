import { newId, WriteConflict, type Transaction } from '@customer-platform/database';
import type { KnownTrait } from '../vocabulary/contacts/contact-field-table.js';
import {
  IDENTITIES_OF_CONTACT,
  identityLimit,
  makesRoom,
  matchedIdentity,
  mayBeNew,
  shownIdentity,
} from '../vocabulary/identities/identity-value.js';
import type { IdentifyBody } from '../vocabulary/events/event-schemas.js';
import { later, within, type ChunkContact, type ChunkIdentity } from './chunk-contact.js';
import { ownersOf, toChunkIdentity, type IdentityRow } from './contact-resolution.js';
import type { WorkItem } from '../vocabulary/events/work-item.js';

const OF_CONTACTS = `
  SELECT i.organization_id AS "organizationId", i.id, i.contact_id AS "contactId", i.origin_id AS "originId", i.type,
         i.value, i.normal_value AS normal, i.first_seen_at AS "firstSeenAt", i.last_seen_at AS "lastSeenAt"
    FROM unnest($1::uuid[], $2::uuid[]) AS contact (organization_id, id),
         LATERAL (SELECT * FROM identities
                   WHERE organization_id = contact.organization_id AND contact_id = contact.id AND yielded_at IS NULL
                  OFFSET 0) AS i`;

/** Locks those that are still deleted: a restore of one locks the same row. */
const DELETED_OWNERS = `
  SELECT contact.id
    FROM unnest($1::uuid[], $2::uuid[]) AS owner (organization_id, id)
    JOIN contacts AS contact ON contact.organization_id = owner.organization_id AND contact.id = owner.id
   WHERE contact.deleted_at IS NOT NULL
   ORDER BY contact.organization_id, contact.id FOR NO KEY UPDATE OF contact`;

const YIELD = `
  UPDATE identities AS identity SET yielded_at = now()
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS given (organization_id, id, contact_id)
   WHERE identity.organization_id = given.organization_id AND identity.id = given.id
     AND identity.contact_id = given.contact_id AND identity.yielded_at IS NULL
  RETURNING identity.id`;

/** An identity that an identify names for its contact. */
export interface Claim {
  readonly organizationId: string;
  readonly contact: ChunkContact;
  readonly item: WorkItem;
  readonly type: string;
  readonly value: string;
  readonly normal: string;
  /** True if it may become an identity where nobody has it. */
  readonly mayBeNew: boolean;
  /** Where the event names it. */
  readonly pointer: string;
}

/**
 * What became of a claim; `refused` is the code of the event's warning. `latest`: no other of its type was seen at the
 * same time or later. `tellsOfLatest`: it became the latest of its type again, or is so on another day.
 */
export type ClaimOutcome =
  | { claim: Claim; added: ChunkIdentity; latest: boolean; evicted?: ChunkIdentity }
  | { claim: Claim; seen: ChunkIdentity; tellsOfLatest: boolean }
  | { claim: Claim; refused: 'identity_taken'; owner: ChunkIdentity }
  | { claim: Claim; refused: 'limit_reached' | 'invalid_format' };

/** A value that an identify names and that no identity can have. */
interface Malformed {
  readonly pointer: string;
  readonly code: 'invalid_format';
}

/** The claims of one identify: the address and number it set, and those it lists. */
export function claimsOf(
  contact: ChunkContact,
  item: WorkItem,
  taken: readonly KnownTrait[],
): { claims: Claim[]; malformed: Malformed[] } {
  const claims: Claim[] = [];
  const malformed: Malformed[] = [];
  const { profile, organizationId } = contact;
  if (profile?.email && profile.emailNormal && taken.includes('email')) {
    const { email: value, emailNormal: normal } = profile;
    const pointer = '/traits/email';
    claims.push({ organizationId, contact, item, type: 'email', value, normal, mayBeNew: true, pointer });
  }
  if (profile?.phone && taken.includes('phone')) {
    const { phone: value } = profile;
    claims.push({
      organizationId,
      contact,
      item,
      type: 'phone',
      value,
      normal: value,
      mayBeNew: true,
      pointer: '/traits/phone',
    });
  }
  const { identities = [] } = item.body as IdentifyBody;
  identities.forEach(({ type, value }, index) => {
    const normal = matchedIdentity(type, value, profile?.country);
    const pointer = `/identities/${index}/value`;
    if (normal === undefined) malformed.push({ pointer, code: 'invalid_format' });
    else {
      const isGood = mayBeNew(type, value, profile?.country);
      claims.push({
        organizationId,
        contact,
        item,
        type,
        value: shownIdentity(type, value),
        normal,
        mayBeNew: isGood,
        pointer,
      });
    }
  });
  return { claims, malformed };
}

/** The owners of what is claimed, while that is decided. */
interface Owners {
  readonly owners: Map<string, ChunkIdentity>;
  /** The ids of identities that soft-deleted contacts have. Such a contact claims nothing itself. */
  readonly ofDeleted: ReadonlySet<string>;
  /** Those of them that are given up. */
  readonly yielded: ChunkIdentity[];
}

/**
 * Decides the claims in their order: one owner per (type, normal value), so a value of another contact stays with it;
 * beyond the limit of a type, or of all together, a contact gives up its least recently seen anonymous or device id for
 * another of the type, and gains no other (core.md §3). A soft-deleted contact yields what another comes to have, and asks
 * for it back when it is restored.
 * @throws WriteConflict when what a deleted contact would yield has gone to another meanwhile
 */
export async function decideClaims(tx: Transaction, claims: readonly Claim[]): Promise<ClaimOutcome[]> {
  if (claims.length === 0) return [];
  const owners = new Map((await ownersOf(tx, claims)).map((own) => [keyOf(own), own]));
  const ofDeleted = await identitiesOfDeleted(tx, claims, owners);
  const contacts = [...new Set(claims.map(({ contact }) => contact))];
  const rows = await tx.prepared<IdentityRow>(OF_CONTACTS, [
    contacts.map(({ organizationId }) => organizationId),
    contacts.map(({ id }) => id),
  ]);
  const held = new Map<string, ChunkIdentity[]>(contacts.map(({ id }) => [id, []]));
  // An identity has one state, whichever way it was found.
  for (const row of rows) {
    held.get(row.contactId)?.push(owners.get(keyOf(row)) ?? toChunkIdentity(row));
  }
  const yielded: ChunkIdentity[] = [];
  const outcomes = claims.map((claim) =>
    decide(claim, { owners, ofDeleted, yielded }, heldBy(held, claim.contact)),
  );
  await yieldAll(tx, yielded);
  return outcomes;
}

/** The external id stays: by it a soft-deleted contact still takes its events. */
async function identitiesOfDeleted(
  tx: Transaction,
  claims: readonly Claim[],
  owners: ReadonlyMap<string, ChunkIdentity>,
): Promise<ReadonlySet<string>> {
  const contested = claims.flatMap((claim) => {
    const owner = owners.get(keyOf(claim));
    const isContested = owner && owner.contactId !== claim.contact.id && owner.type !== 'external_id';
    return isContested ? owner : [];
  });
  if (contested.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(DELETED_OWNERS, [
    contested.map(({ organizationId }) => organizationId),
    contested.map(({ contactId }) => contactId),
  ]);
  const deleted = new Set(rows.map(({ id }) => id));
  return new Set(contested.filter(({ contactId }) => deleted.has(contactId)).map(({ id }) => id));
}

async function yieldAll(tx: Transaction, identities: readonly ChunkIdentity[]): Promise<void> {
  if (identities.length === 0) return;
  const rows = await tx.query(YIELD, [
    identities.map(({ organizationId }) => organizationId),
    identities.map(({ id }) => id),
    identities.map(({ contactId }) => contactId),
  ]);
  if (rows.length !== identities.length)
    throw new WriteConflict('An identity of a deleted contact went to another meanwhile');
}

/** The identities of a contact; one that this chunk makes has its external id from the start. */
function heldBy(held: Map<string, ChunkIdentity[]>, contact: ChunkContact): ChunkIdentity[] {
  const list = held.get(contact.id) ?? [];
  if (contact.created && !list.includes(contact.created.identity)) list.push(contact.created.identity);
  held.set(contact.id, list);
  return list;
}

function decide(claim: Claim, { owners, ofDeleted, yielded }: Owners, held: ChunkIdentity[]): ClaimOutcome {
  const { contact, type, normal, item } = claim;
  const owner = owners.get(keyOf(claim)) ?? held.find((own) => own.type === type && own.normal === normal);
  const isOwn = owner?.contactId === contact.id;
  if (owner && !isOwn && !ofDeleted.has(owner.id)) return { claim, refused: 'identity_taken', owner };
  const ofType = held.filter((own) => own.type === type);
  if (owner && isOwn) {
    const before = owner.lastSeenAt;
    owner.lastSeenAt = later(before, item.occurredAt);
    const others = ofType.filter((own) => own !== owner);
    const wasLatest = others.every((own) => own.lastSeenAt < before);
    const isLatest = others.every((own) => own.lastSeenAt <= owner.lastSeenAt);
    const onAnotherDay = dayOf(before) !== dayOf(owner.lastSeenAt);
    return { claim, seen: owner, tellsOfLatest: isLatest && (!wasLatest || onAnotherDay) };
  }
  if (!claim.mayBeNew) return { claim, refused: 'invalid_format' };
  const full = ofType.length >= identityLimit(type) || held.length >= IDENTITIES_OF_CONTACT;
  if (full && !(makesRoom(type) && ofType.length > 0)) return { claim, refused: 'limit_reached' };
  if (owner) yielded.push(owner);
  const evicted = full ? leastRecentlySeen(ofType) : undefined;
  if (evicted) {
    held.splice(held.indexOf(evicted), 1);
    owners.delete(keyOf(evicted));
  }
  const added = newIdentity(claim);
  const latest = ofType.every((own) => own === evicted || own.lastSeenAt < added.lastSeenAt);
  held.push(added);
  owners.set(keyOf(added), added);
  return { claim, added, latest, evicted };
}

/** The UTC day of an instant. */
function dayOf(instant: string): string {
  return instant.slice(0, 10);
}

function newIdentity({ organizationId, contact, type, value, normal, item }: Claim): ChunkIdentity {
  const { occurredAt } = item;
  const seen = { firstSeenAt: occurredAt, lastSeenAt: occurredAt };
  return { organizationId, id: newId(), contactId: contact.id, originId: null, type, value, normal, ...seen };
}

function leastRecentlySeen(identities: readonly ChunkIdentity[]): ChunkIdentity | undefined {
  return identities.reduce<ChunkIdentity | undefined>(
    (oldest, own) => (oldest && oldest.lastSeenAt <= own.lastSeenAt ? oldest : own),
    undefined,
  );
}

function keyOf({ organizationId, type, normal }: Pick<Claim, 'organizationId' | 'type' | 'normal'>): string {
  return within(organizationId, type, normal);
}
