export {
  CONTACT_CHANGED,
  CONTACT_ENDED,
  CONTACT_EVENTS,
  CONTACTS_MERGED,
  refsOfMerge,
  type ContactChanged,
  type ContactEnded,
  type ContactEvent,
  type ContactsMerged,
} from './contact-events.js';
export { ContactFollower } from './contact-follower.js';
export {
  contactKey,
  newestOf,
  type ChainEnd,
  type ContactId,
  type ContactRef,
  type ContactState,
} from './contact-ref.js';
export {
  AskedContacts,
  ContactReferences,
  REFUSALS,
  type ContactReference,
  type RefusedReference,
  type ResolvedContact,
} from './contact-references.js';
export { ContactRefs } from './contact-refs.js';
export { contactRefsTable, erasedContactsTable } from './contact-refs.table.js';
export {
  concerns,
  ContactRowsRegistry,
  contactTable,
  writtenOn,
  type ContactRows,
  type Settled,
  type SettledRows,
} from './contact-rows.js';
export { chainOf } from './contact-statements.js';
export { coreDoesNotAnswer, CoreContacts, IDS_AT_ONCE, type LookedUpContact } from './core-contacts.js';
