import { recordOf, SHARED_CONTACT_NAMES, type SharedContactField } from '@customer-platform/events';
import { asProperties } from './contact-columns.js';
import { propertyOf, type FieldColumns, type PropertyOf } from './contact-field-table.js';

/** What a contact is to other modules. */
export type ContactState = 'active' | 'merged' | 'deleted' | 'erased';

/** The columns that tell the state of a contact. */
interface Standing {
  mergedInto: string | null;
  deletedAt: Date | null;
  erasedAt: Date | null;
}

/** The part of a contact that other modules may know: never the national id. */
export type SharedContact = Pick<FieldColumns, PropertyOf<SharedContactField>> &
  Standing & {
    id: string;
    attributes: Record<string, unknown>;
    version: number;
  };

/** The columns of which {@link stateOf} reads the state of a contact. */
export const STATE_COLUMNS = `merged_into AS "mergedInto", deleted_at AS "deletedAt", erased_at AS "erasedAt"`;

/** The columns of {@link SharedContact}. */
export const SHARED_COLUMNS = `id, ${asProperties(SHARED_CONTACT_NAMES)}, attributes, version, ${STATE_COLUMNS}`;

/** The state of a contact: each is in exactly one. */
export function stateOf(contact: Standing): ContactState {
  if (contact.erasedAt) return 'erased';
  if (contact.mergedInto) return 'merged';
  return contact.deletedAt ? 'deleted' : 'active';
}

/** The contact as other modules are told of it. */
export function snapshotOf(contact: SharedContact) {
  const { id, attributes } = contact;
  const fields = recordOf(SHARED_CONTACT_NAMES, (field) => contact[propertyOf(field)]);
  return { id, ...fields, attributes, state: stateOf(contact) };
}

/** An event that says what a contact is now: `core.contact.created`, `.updated` and their like. */
export function contactEvent<T extends string>(
  type: T,
  contact: SharedContact,
  changedFields: readonly string[],
) {
  const { id, version } = contact;
  return {
    type,
    key: id,
    subject: `contacts/${id}`,
    data: {
      contact_id: id,
      version,
      changed_fields: [...changedFields],
      contact: snapshotOf(contact),
    },
  };
}
