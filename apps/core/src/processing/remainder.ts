import type { NewDomainEvent } from '@customer-platform/event-bus';
import { contactEvent, identityEvent, identityNews, recordedEvent, type Effect } from './chunk-effects.js';
import type { ClaimOutcome } from './identity-claims.js';
import type { Remainder, Stage } from './work-item.js';

/** The order in which an event goes through the stages once it is read (core.md §6). */
const ORDER: readonly Stage[] = ['validate', 'resolve', 'store', 'profile', 'segments', 'emit', 'loyalty'];

/** Whether an event that fails at the stage is stored all the same. */
export function isLate(stage: Stage): boolean {
  return comesBefore('store', stage);
}

/** Whether an event comes to one stage before it comes to the other. */
export function comesBefore(one: Stage, other: Stage): boolean {
  return ORDER.indexOf(one) < ORDER.indexOf(other);
}

/** What is left of an event that is being stored now. */
export function remainderOf(effect: Effect, outcomes: readonly ClaimOutcome[]): Remainder {
  const { item, contact, changedFields } = effect;
  return {
    contactId: contact.id,
    created: contact.created?.by === item,
    onDeleted: contact.deleted,
    changedFields,
    identities: identityNews(effect, outcomes),
    contested: outcomes.flatMap((outcome) => ('owner' in outcome ? outcome.claim.pointer : [])),
  };
}

/** What is left once the rest of an event was begun again: what it did before, and what it has done now. */
export function together(before: Remainder, now: Remainder): Remainder {
  if (before.contactId !== now.contactId) return now;
  return {
    ...now,
    created: before.created,
    changedFields: [...new Set([...before.changedFields, ...now.changedFields])],
    identities: [...before.identities, ...now.identities],
  };
}

/** All that a stored event has to tell, as of an event that comes through at once. */
export function lateDomainEvents(effect: Effect, remainder: Remainder): NewDomainEvent[] {
  const { item, contact } = effect;
  if (contact.deleted) return [];
  const { created, changedFields } = remainder;
  const events: NewDomainEvent[] = [];
  if (created || changedFields.length > 0) {
    const type = created ? 'core.contact.created.v1' : 'core.contact.updated.v1';
    events.push(contactEvent(type, { item, contact, changedFields }));
  }
  events.push(...remainder.identities.map((news) => identityEvent(item, contact.id, news)));
  if (item.kind === 'track') events.push(recordedEvent(item, contact));
  return events;
}
