import type { NewDomainEvent } from '@customer-platform/event-bus';
import { NOTHING_DECLARED, type DeclaredAttributes } from '../attributes/declared-attributes.js';
import { applyTraits, type Warning } from '../contacts/contact-profile.js';
import type { IdentifyBody, TrackBody } from '../ingestion/event-schemas.js';
import type { StoredEvent } from '../segments/following/segment-follower.js';
import { claimsOf, type Claim, type ClaimOutcome } from './identity-claims.js';
import type { ContactState, IdentityState } from './contact-state.js';
import type { IdentityNews, WorkItem } from './work-item.js';

/** What an event does: the contact it is stored on, its warnings, and what it has to tell. */
export interface Effect {
  readonly item: WorkItem;
  readonly contact: ContactState;
  readonly warnings: Warning[];
  readonly claims: Claim[];
  /** Fields of the contact that have another value now. */
  changedFields: readonly string[];
  /** `core.contact.created` or `.updated`, whose snapshot is of this moment and not of the chunk's end. */
  contactEvent?: NewDomainEvent;
}

/**
 * Applies an event to its contact, in memory. Events of a contact must come in their order. A soft-deleted contact
 * keeps its events without any effect.
 */
export function applyEvent(
  item: WorkItem,
  contact: ContactState,
  declared: DeclaredAttributes = NOTHING_DECLARED,
): Effect {
  const effect: Effect = { item, contact, warnings: [], claims: [], changedFields: [] };
  if (contact.deleted) return effect;
  const isCreation = contact.created?.by === item;
  const changed = item.kind === 'identify' ? applyIdentify(effect, declared) : [];
  if (isCreation) {
    effect.changedFields = ['external_id', ...changed];
    effect.contactEvent = contactEvent('core.contact.created.v1', effect);
  } else if (changed.length > 0) {
    contact.changed = true;
    contact.version += 1;
    effect.changedFields = changed;
    effect.contactEvent = contactEvent('core.contact.updated.v1', effect);
  }
  return effect;
}

/** The effect of an event of which nothing but its contact is known. */
export function noEffect(item: WorkItem, contact: ContactState): Effect {
  const changedFields = contact.created?.by === item ? ['external_id'] : [];
  return { item, contact, warnings: [], claims: [], changedFields };
}

function applyIdentify({ item, contact, warnings, claims }: Effect, declared: DeclaredAttributes): string[] {
  const { profile } = contact;
  if (!profile) throw new TypeError('The profile of an identified contact was not loaded');
  const { traits } = item.body as IdentifyBody;
  const before = JSON.stringify(profile.times);
  const { changed, taken, warnings: skipped } = applyTraits(profile, traits, item.occurredAt, declared);
  // A field that was confirmed keeps its value, but when it was said last must be kept too.
  if (before !== JSON.stringify(profile.times)) contact.changed = true;
  const named = claimsOf(contact, item, taken);
  warnings.push(...skipped, ...named.malformed);
  claims.push(...named.claims);
  return changed;
}

/** `core.contact.created` or `.updated`, with the contact as it is now. */
export function contactEvent(
  type: 'core.contact.created.v1' | 'core.contact.updated.v1',
  { item, contact, changedFields }: Pick<Effect, 'item' | 'contact' | 'changedFields'>,
): NewDomainEvent {
  const { profile } = contact;
  if (!profile) throw new TypeError('The profile of a changed contact was not loaded');
  const { email, phone, first_name, last_name, locale, timezone, country, attributes } = profile;
  const known = { email, phone, first_name, last_name, locale, timezone, country };
  const snapshot = {
    id: contact.id,
    external_id: contact.externalId,
    ...known,
    attributes: { ...attributes },
  };
  return {
    type,
    organizationId: item.organizationId,
    key: contact.id,
    subject: `contacts/${contact.id}`,
    correlationId: item.eventId,
    causationId: item.eventId,
    data: {
      contact_id: contact.id,
      version: contact.version,
      changed_fields: [...changedFields],
      contact: { ...snapshot, state: 'active' as const },
    },
  };
}

/** The event as segments follow it. */
export function storedEvent({ item, contact, changedFields }: Effect): StoredEvent {
  const track = item.kind === 'track' ? (item.body as TrackBody) : undefined;
  return {
    organizationId: item.organizationId,
    id: item.eventId,
    contactId: contact.id,
    ...(track ? { event: track.event } : {}),
    properties: track?.properties ?? {},
    occurredAt: item.occurredAt,
    created: contact.created?.by === item,
    changedFields,
    onDeleted: contact.deleted,
  };
}

/** All that the events of a chunk have to tell, in their order: first of the contact, then the event itself. */
export function domainEvents(
  effects: readonly Effect[],
  outcomes: ReadonlyMap<WorkItem, readonly ClaimOutcome[]>,
): NewDomainEvent[] {
  return effects.flatMap((effect) => {
    const { item, contact, contactEvent: ofContact } = effect;
    if (contact.deleted) return [];
    const events: NewDomainEvent[] = ofContact ? [ofContact] : [];
    for (const news of identityNews(effect, outcomes.get(item) ?? [])) {
      events.push(identityEvent(item, contact.id, news));
    }
    if (item.kind === 'track') events.push(recordedEvent(item, contact));
    return events;
  });
}

/** What an event did to the identities of its contact, in the order in which it is told. */
export function identityNews({ item, contact }: Effect, outcomes: readonly ClaimOutcome[]): IdentityNews[] {
  const news: IdentityNews[] = [];
  const tell = (verb: IdentityNews['verb'], { id, type }: IdentityState): unknown =>
    news.push({ verb, id, type });
  if (contact.created?.by === item) tell('added', contact.created.identity);
  for (const outcome of outcomes) {
    if (!('added' in outcome)) continue;
    if (outcome.evicted) tell('removed', outcome.evicted);
    tell('added', outcome.added);
  }
  return news;
}

/** `core.identity.added` or `.removed`. */
export function identityEvent(item: WorkItem, contactId: string, { verb, id, type }: IdentityNews) {
  const event: NewDomainEvent = {
    type: `core.identity.${verb}.v1`,
    organizationId: item.organizationId,
    key: contactId,
    subject: `identities/${id}`,
    correlationId: item.eventId,
    causationId: item.eventId,
    data: { contact_id: contactId, identity_id: id, type },
  };
  return event;
}

/** `core.event.recorded`. */
export function recordedEvent(item: WorkItem, contact: ContactState): NewDomainEvent {
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
