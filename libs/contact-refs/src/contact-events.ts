import type { DomainEvent } from '@customer-platform/events';
import type { ContactRef } from './contact-ref.js';

/** A contact as it is now. */
export type ContactChanged =
  | 'core.contact.created.v1'
  | 'core.contact.updated.v1'
  | 'core.contact.deleted.v1'
  | 'core.contact.restored.v1';
/** A contact that is no more. */
export type ContactEnded = 'core.contact.purged.v1' | 'core.contact.erased.v1';
/** Two contacts that became one, or two again. */
export type ContactsMerged = 'core.contact.merged.v1' | 'core.contact.unmerged.v1';
/** All that core tells of contacts as such. */
export type ContactEvent = ContactChanged | ContactEnded | ContactsMerged;

/** The types of events that tell how contacts change. */
export const CONTACT_CHANGED: ContactChanged[] = [
  'core.contact.created.v1',
  'core.contact.updated.v1',
  'core.contact.deleted.v1',
  'core.contact.restored.v1',
];
/** The types of events that tell that contacts are gone. */
export const CONTACT_ENDED: ContactEnded[] = ['core.contact.purged.v1', 'core.contact.erased.v1'];
/** The types of events that tell of merges and their undoing. */
export const CONTACTS_MERGED: ContactsMerged[] = ['core.contact.merged.v1', 'core.contact.unmerged.v1'];
/** All of these. */
export const CONTACT_EVENTS: ContactEvent[] = [...CONTACT_CHANGED, ...CONTACT_ENDED, ...CONTACTS_MERGED];

/** Those of some types. */
export function eventsOf<T extends ContactEvent>(
  types: readonly T[],
  events: readonly DomainEvent<ContactEvent>[],
): DomainEvent<T>[] {
  const wanted: readonly ContactEvent[] = types;
  return events.filter(({ type }) => wanted.includes(type)) as unknown as DomainEvent<T>[];
}

/** None of a merged contact: into which it was merged only the event of the merge says. */
export function refOfChange({ type, organizationid, data }: DomainEvent<ContactChanged>): ContactRef | null {
  const { contact_id: id, version, contact } = data;
  const ref = { organizationId: organizationid, id, mergedInto: null, version };
  if (type === 'core.contact.deleted.v1') return { ...ref, state: 'deleted' };
  if (type === 'core.contact.restored.v1') return { ...ref, state: 'active' };
  return contact.state === 'merged' ? null : { ...ref, state: contact.state };
}

/** What is left to know of a contact that is gone. */
export function refOfEnd({ type, organizationid, data }: DomainEvent<ContactEnded>): ContactRef {
  const state = type === 'core.contact.purged.v1' ? 'purged' : 'erased';
  return {
    organizationId: organizationid,
    id: data.contact_id,
    state,
    mergedInto: null,
    version: data.version,
  };
}

/** Both sides of a merge, or of its undoing. */
export function refsOfMerge({ type, organizationid: organizationId, data }: DomainEvent<ContactsMerged>): {
  readonly survivor: ContactRef;
  readonly merged: ContactRef;
} {
  const together = type === 'core.contact.merged.v1';
  return {
    survivor: {
      organizationId,
      id: data.survivor_id,
      state: 'active',
      mergedInto: null,
      version: data.survivor_version,
    },
    merged: {
      organizationId,
      id: data.merged_id,
      state: together ? 'merged' : 'active',
      mergedInto: together ? data.survivor_id : null,
      version: data.merged_version,
    },
  };
}
