/** Where a contact is in its life, as core last said. */
export type ContactState = 'active' | 'merged' | 'deleted' | 'erased' | 'purged';

/** What is known here of one contact. */
export interface ContactRef {
  readonly id: string;
  readonly state: ContactState;
  /** The survivor; set if, and only if, the state is `merged`. */
  readonly mergedInto: string | null;
  /** Core's version of the contact; of two, the higher holds. */
  readonly version: number;
}

/** What a contact's id stands for (crm.md §1). */
export type ResolvedContact =
  | { readonly kind: 'present'; readonly id: string; readonly deleted: boolean }
  /** `id` is the survivor at the end of all merges. */
  | { readonly kind: 'merged'; readonly id: string; readonly deleted: boolean }
  /** Foreign, erased, purged or never there: nobody may learn which. */
  | { readonly kind: 'absent' };
