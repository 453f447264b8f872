/** Where a contact is in its life, as core last said. */
export type ContactState = 'active' | 'merged' | 'deleted' | 'erased' | 'purged';

/** A contact of an organization. */
export interface ContactId {
  readonly organizationId: string;
  readonly id: string;
}

/** Where a contact stands from one of its versions on. */
export interface ContactRef extends ContactId {
  readonly state: ContactState;
  /** The survivor; set if, and only if, the state is `merged`. */
  readonly mergedInto: string | null;
  /** Core's version of the contact; of two, the higher holds. */
  readonly version: number;
}

/** Where the merges of a contact end, as far as is known here. */
export interface ChainEnd {
  /** The contact itself if it is not merged, else the last survivor that is known by name. */
  readonly id: string;
  /** Undefined: nothing is known of it yet. `merged`: the merges end nowhere. */
  readonly state: ContactState | undefined;
}

/** Key of a contact across organizations. */
export function contactKey({ organizationId, id }: ContactId): string {
  return `${organizationId}/${id}`;
}

/** Of each contact the newest, and of one version the last. */
export function newestOf<T extends ContactId & { readonly version: number }>(contacts: readonly T[]): T[] {
  const newest = new Map<string, T>();
  for (const contact of contacts) {
    const known = newest.get(contactKey(contact));
    if (!known || known.version <= contact.version) newest.set(contactKey(contact), contact);
  }
  return [...newest.values()];
}
