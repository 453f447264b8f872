import type { NewDomainEvent } from '@customer-platform/event-bus';
import { NOTHING_DECLARED, type DeclaredAttributes } from '../vocabulary/attributes/declared-attributes.js';
import { applyTraits, type Warning } from '../vocabulary/contacts/contact-profile.js';
import { contactEvent } from '../vocabulary/contacts/shared-contact.js';
import { PUSH_TOKEN } from '../vocabulary/identities/identity-value.js';
import type { IdentifyBody, TrackBody } from '../vocabulary/events/event-schemas.js';
import type { StoredEvent } from '../following/segment-follower.js';
import type { ChunkContact, ChunkIdentity } from './chunk-contact.js';
import { claimsOf, type Claim, type ClaimOutcome } from './identity-claims.js';
import type { FailedItem, IdentityNews, ResumePoint, WorkItem } from '../vocabulary/events/work-item.js';

/** What an event does: the contact it is stored on, its warnings, and what it has to tell. */
export interface Effect {
  readonly item: WorkItem;
  readonly contact: ChunkContact;
  /** Whether it made the contact. */
  readonly created: boolean;
  readonly warnings: Warning[];
  readonly claims: readonly Claim[];
  /** Fields of the contact that have another value now. */
  readonly changedFields: readonly string[];
  readonly identities: IdentityNews[];
  /** `core.contact.created` or `.updated`, whose snapshot is of this moment and not of the chunk's end. */
  readonly contactEvent?: NewDomainEvent;
}

/** What an event has done by being stored, and has not told of. */
type Untold = Pick<ResumePoint, 'created' | 'changedFields' | 'identities'>;

/** The effect of an event that is stored and no more. */
export function storedOnly(item: WorkItem, contact: ChunkContact): Effect {
  const { changedFields, identities, created } = untold(item, contact);
  return { item, contact, created, warnings: [], claims: [], changedFields, identities: [...identities] };
}

function untold(item: WorkItem, { created }: ChunkContact): Untold {
  if (created?.by !== item) return { created: false, changedFields: [], identities: [] };
  const { id, type } = created.identity;
  return { created: true, changedFields: ['external_id'], identities: [{ verb: 'added', id, type }] };
}

/** From where an event goes on that is stored and no more. */
export function resumePointOf({ contact, created, changedFields, identities }: Effect): ResumePoint {
  // To a release that replays it and knows no `seen`, which is nothing that has happened to the contact.
  const kept = identities.flatMap(({ verb, id, type }) => (verb === 'seen' ? [] : [{ verb, id, type }]));
  return { contactId: contact.id, created, onDeleted: contact.deleted, changedFields, identities: kept };
}

/**
 * Applies an event to its contact, in memory. Events of a contact must come in their order. A soft-deleted contact
 * keeps its events without any effect.
 * @param before what it has done already
 */
export function applyEvent(
  item: WorkItem,
  contact: ChunkContact,
  declared: DeclaredAttributes = NOTHING_DECLARED,
  before: Untold = untold(item, contact),
): Effect {
  const { created } = before;
  const identities = [...before.identities];
  if (contact.deleted)
    return { item, contact, created, warnings: [], claims: [], changedFields: [], identities };
  const { changed, warnings, claims } =
    item.kind === 'identify' ? applyIdentify(item, contact, declared) : NO_CHANGE;
  if (changed.length > 0 && contact.created?.by !== item) {
    contact.changed = true;
    contact.version += 1;
  }
  const changedFields = [...new Set([...before.changedFields, ...changed])];
  const effect = { item, contact, created, warnings: [...warnings], claims, changedFields, identities };
  if (changedFields.length === 0) return effect;
  return { ...effect, contactEvent: changeEvent(effect) };
}

const NO_CHANGE = { changed: [], warnings: [], claims: [] } as const;

function applyIdentify(item: WorkItem, contact: ChunkContact, declared: DeclaredAttributes) {
  const { profile } = contact;
  if (!profile) throw new TypeError('The profile of an identified contact was not loaded');
  const { traits } = item.body as IdentifyBody;
  const before = JSON.stringify(profile.fieldTimes);
  const { changed, taken, warnings } = applyTraits(profile, traits, item.occurredAt, declared);
  // A field that was confirmed keeps its value, but when it was said last must be kept too.
  if (before !== JSON.stringify(profile.fieldTimes)) contact.changed = true;
  const { claims, malformed } = claimsOf(contact, item, taken);
  return { changed, warnings: [...warnings, ...malformed], claims };
}

/** `core.contact.created` or `.updated`, with the contact as it is now. */
function changeEvent({
  item,
  contact,
  created,
  changedFields,
}: Omit<Effect, 'contactEvent'>): NewDomainEvent {
  const { profile, id, externalId, version } = contact;
  if (!profile) throw new TypeError('The profile of a changed contact was not loaded');
  const { attributes } = profile;
  // A copy: later events of the chunk change the attributes in place.
  const known = { ...profile, attributes: { ...attributes }, id, externalId, version };
  const shared = { ...known, mergedInto: null, deletedAt: null, erasedAt: null };
  return {
    ...contactEvent(created ? 'core.contact.created.v1' : 'core.contact.updated.v1', shared, changedFields),
    organizationId: item.organizationId,
    correlationId: item.eventId,
    causationId: item.eventId,
  };
}

/** The event as segments follow it. */
export function storedEvent({ item, contact, created, changedFields }: Effect): StoredEvent {
  const track = item.kind === 'track' ? (item.body as TrackBody) : undefined;
  return {
    organizationId: item.organizationId,
    id: item.eventId,
    contactId: contact.id,
    ...(track ? { event: track.event } : {}),
    properties: track?.properties ?? {},
    occurredAt: item.occurredAt,
    created,
    changedFields,
    onDeleted: contact.deleted,
  };
}

/** All that events have to tell, in their order: first of the contact, then of its identities, then the event itself. */
export function domainEvents(effects: readonly Effect[]): NewDomainEvent[] {
  return effects.flatMap(({ item, contact, contactEvent: ofContact, identities }) => {
    if (contact.deleted) return [];
    const events: NewDomainEvent[] = ofContact ? [ofContact] : [];
    events.push(...identities.map((news) => identityEvent(item, contact.id, news)));
    if (item.kind === 'track') events.push(recordedEvent(item, contact));
    return events;
  });
}

/** What a claim did to the identities of its contact, in the order in which it is told. */
export function identityNews(outcome: ClaimOutcome): IdentityNews[] {
  const news = (
    verb: IdentityNews['verb'],
    { id, type, value, lastSeenAt }: ChunkIdentity,
    asDevice = false,
  ): IdentityNews => ({
    verb,
    id,
    type,
    ...(asDevice && type === PUSH_TOKEN ? { device: { value, seen_at: lastSeenAt } } : {}),
  });
  // Of devices alone it matters which is the latest.
  if ('seen' in outcome)
    return outcome.tellsOfLatest && outcome.seen.type === PUSH_TOKEN
      ? [news('seen', outcome.seen, true)]
      : [];
  if (!('added' in outcome)) return [];
  const { added, evicted, latest } = outcome;
  // Not every later time of the latest has been told: whoever knows a device that is not the latest has to ask.
  return [...(evicted ? [news('removed', evicted)] : []), news('added', added, latest)];
}

/** `core.event.dead_lettered`. */
export function deadLetteredEvent({ organizationId, eventId, failure }: FailedItem): NewDomainEvent {
  return {
    type: 'core.event.dead_lettered.v1',
    organizationId,
    key: eventId,
    subject: `events/${eventId}`,
    correlationId: eventId,
    data: { event_id: eventId, stage: failure.stage, code: failure.code },
  };
}

function identityEvent(
  item: WorkItem,
  contactId: string,
  { verb, id, type, device }: IdentityNews,
): NewDomainEvent {
  return {
    type: `core.identity.${verb}.v1`,
    organizationId: item.organizationId,
    key: contactId,
    subject: `identities/${id}`,
    correlationId: item.eventId,
    causationId: item.eventId,
    data: { contact_id: contactId, identity_id: id, type, ...(device ? { push_token: device } : {}) },
  };
}

function recordedEvent(item: WorkItem, contact: ChunkContact): NewDomainEvent {
  const body = item.body as TrackBody;
  return {
    type: 'core.event.recorded.v1',
    // The event's own id: whoever consumes it twice, even over a replay, knows it again.
    id: item.eventId,
    organizationId: item.organizationId,
    key: contact.id,
    subject: `events/${item.eventId}`,
    correlationId: item.eventId,
    data: {
      event_id: item.eventId,
      contact_id: contact.id,
      external_id: body.external_id,
      event: body.event,
      occurred_at: item.occurredAt,
      received_at: item.receivedAt,
      properties: body.properties ?? {},
    },
  };
}
