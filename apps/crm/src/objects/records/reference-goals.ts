import type { ContactRefs } from '@customer-platform/contact-refs';

/** A field of a record that refers to a contact; `origin` is the one that it was given. */
export interface Reference {
  readonly definition_id: string;
  readonly record_id: string;
  readonly field: string;
  readonly contact_id: string;
  readonly origin: string;
}

/** Where a reference belongs: where it is, to another contact, or nowhere any more, being of one who is gone. */
export type Goal = 'stays' | { readonly to: string } | { readonly to?: undefined; readonly of: string };

/** Where the merges of contacts end. */
export type Ends = Awaited<ReturnType<ContactRefs['ends']>>;

/**
 * What merges, their undoing and the ends of contacts make of a reference, by what is known of these now: it goes to where
 * the merges of its origin end, and with whom these end in.
 */
export function goalOf({ contact_id: contactId, origin }: Reference, ends: Ends): Goal {
  const end = ends.get(origin);
  // Of an origin that is not known whoever has it now decides.
  const decides = end?.state === undefined ? ends.get(contactId) : end;
  // Who was merged into an erased one is either parted again, or erased, too: of which it will be heard.
  if (end?.state === 'erased' && end.id !== origin) return 'stays';
  if (isGone(decides?.state)) return { of: end?.state === undefined ? contactId : origin };
  return end?.state === undefined || end.id === contactId ? 'stays' : { to: end.id };
}

function isGone(state: string | undefined): boolean {
  return state === 'erased' || state === 'purged';
}
