import { newId, type Transaction } from '@customer-platform/database';
import type { KnownTrait } from '../contacts/known-traits.js';
import {
  IDENTITIES_OF_CONTACT,
  identityLimit,
  makesRoom,
  normalIdentity,
} from '../identities/identity-value.js';
import type { IdentifyBody } from '../ingestion/event-schemas.js';
import { later, within, type ChunkContact, type ChunkIdentity } from './chunk-contact.js';
import { ownersOf, toChunkIdentity, type IdentityRow } from './contact-resolution.js';
import type { WorkItem } from './work-item.js';

const OF_CONTACTS = `
  SELECT i.organization_id AS "organizationId", i.id, i.contact_id AS "contactId", i.origin_id AS "originId", i.type,
         i.value, i.normal_value AS normal, i.first_seen_at AS "firstSeenAt", i.last_seen_at AS "lastSeenAt"
    FROM unnest($1::uuid[], $2::uuid[]) AS contact (organization_id, id),
         LATERAL (SELECT * FROM identities
                   WHERE organization_id = contact.organization_id AND contact_id = contact.id AND yielded_at IS NULL
                  OFFSET 0) AS i`;

/** What is unique is so among active contacts; by its external id a soft-deleted one still takes its events. */
const YIELD = `
  WITH owner AS (
    SELECT contact.organization_id, contact.id, contested.identity_id
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS contested (organization_id, identity_id, contact_id)
      JOIN contacts AS contact
        ON contact.organization_id = contested.organization_id AND contact.id = contested.contact_id
     WHERE contact.deleted_at IS NOT NULL
     ORDER BY contact.organization_id, contact.id FOR NO KEY UPDATE OF contact)
  UPDATE identities AS identity SET yielded_at = now() FROM owner
   WHERE identity.organization_id = owner.organization_id AND identity.id = owner.identity_id
     AND identity.contact_id = owner.id AND identity.type <> 'external_id'
  RETURNING identity.id`;

/** An identity that an identify names for its contact. */
export interface Claim {
  readonly organizationId: string;
  readonly contact: ChunkContact;
  readonly item: WorkItem;
  readonly type: string;
  readonly value: string;
  readonly normal: string;
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
  | { claim: Claim; refused: 'limit_reached' };

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
    claims.push({ organizationId, contact, item, type: 'email', value, normal, pointer: '/traits/email' });
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
      pointer: '/traits/phone',
    });
  }
  const { identities = [] } = item.body as IdentifyBody;
  identities.forEach(({ type, value }, index) => {
    const normal = normalIdentity(type, value, profile?.country);
    const pointer = `/identities/${index}/value`;
    if (normal === undefined) malformed.push({ pointer, code: 'invalid_format' });
    else {
      const trimmed = type === 'email' ? value.trim() : value;
      claims.push({ organizationId, contact, item, type, value: trimmed, normal, pointer });
    }
  });
  return { claims, malformed };
}

/**
 * Decides the claims in their order: one owner per (type, normal value), so a value of another contact stays with it;
 * beyond the limit of a type, or of all together, a contact gives up its least recently seen anonymous or device id for
 * another of the type, and gains no other (core.md §3).
 */
export async function decideClaims(tx: Transaction, claims: readonly Claim[]): Promise<ClaimOutcome[]> {
  if (claims.length === 0) return [];
  const owners = new Map((await ownersOf(tx, claims)).map((own) => [keyOf(own), own]));
  await yieldFromDeleted(tx, claims, owners);
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
  return claims.map((claim) => decide(claim, owners, heldBy(held, claim.contact)));
}

/** A soft-deleted contact gives up what another claims; it asks for it back when it is restored. */
async function yieldFromDeleted(
  tx: Transaction,
  claims: readonly Claim[],
  owners: Map<string, ChunkIdentity>,
): Promise<void> {
  const contested = claims.flatMap((claim) => {
    const owner = owners.get(keyOf(claim));
    return owner && owner.contactId !== claim.contact.id ? owner : [];
  });
  if (contested.length === 0) return;
  const rows = await tx.query<{ id: string }>(YIELD, [
    contested.map(({ organizationId }) => organizationId),
    contested.map(({ id }) => id),
    contested.map(({ contactId }) => contactId),
  ]);
  const yielded = new Set(rows.map(({ id }) => id));
  for (const [key, { id }] of owners) if (yielded.has(id)) owners.delete(key);
}

/** The identities of a contact; one that this chunk makes has its external id from the start. */
function heldBy(held: Map<string, ChunkIdentity[]>, contact: ChunkContact): ChunkIdentity[] {
  const list = held.get(contact.id) ?? [];
  if (contact.created && !list.includes(contact.created.identity)) list.push(contact.created.identity);
  held.set(contact.id, list);
  return list;
}

function decide(claim: Claim, owners: Map<string, ChunkIdentity>, held: ChunkIdentity[]): ClaimOutcome {
  const { contact, type, normal, item } = claim;
  const owner = owners.get(keyOf(claim)) ?? held.find((own) => own.type === type && own.normal === normal);
  if (owner && owner.contactId !== contact.id) return { claim, refused: 'identity_taken', owner };
  const ofType = held.filter((own) => own.type === type);
  if (owner) {
    const before = owner.lastSeenAt;
    owner.lastSeenAt = later(before, item.occurredAt);
    const others = ofType.filter((own) => own !== owner);
    const wasLatest = others.every((own) => own.lastSeenAt < before);
    const isLatest = others.every((own) => own.lastSeenAt <= owner.lastSeenAt);
    const onAnotherDay = dayOf(before) !== dayOf(owner.lastSeenAt);
    return { claim, seen: owner, tellsOfLatest: isLatest && (!wasLatest || onAnotherDay) };
  }
  const full = ofType.length >= identityLimit(type) || held.length >= IDENTITIES_OF_CONTACT;
  if (full && !(makesRoom(type) && ofType.length > 0)) return { claim, refused: 'limit_reached' };
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
