import type { ChangeEvent, ResourceChange } from '@customer-platform/database';
import { FIELD_NAMES, propertyOf } from '../../vocabulary/contacts/contact-field-table.js';
import type { Contact } from './contact.entity.js';
import { contactEvent } from '../../vocabulary/contacts/shared-contact.js';

/** Properties of a contact, by the names that events tell them by; what keeps books is told of nowhere. */
const TOLD: ReadonlyMap<string, string> = new Map([
  ...FIELD_NAMES.map((field): [string, string] => [propertyOf(field), field]),
  ['nationalIdIndex', 'national_id'],
  ['deletedAt', 'deleted_at'],
]);

/** What audit rows do not tell of: it follows from other fields. */
export const BOOKKEEPING = [
  'nationalIdType',
  'nationalIdSealed',
  'nationalIdMasked',
  'emailNormal',
  'fieldTimes',
  'source',
  'version',
] as const satisfies readonly (keyof Contact)[];

/** `core.contact.<verb>`, with the contact as it is after the change; never the national id. */
export function eventOfChange(change: ResourceChange<Contact>): ChangeEvent {
  const { verb, row } = change;
  const event = contactEvent(`core.contact.${verb}.v1`, row, changedFields(change));
  if (verb !== 'purged') return event;
  return { ...event, data: { ...event.data, version: row.version + 1, contact: null } };
}

/** The fields that have another value, `attributes.<key>` for attributes. */
export function changedFields({ before, row, changed }: ResourceChange<Contact>): string[] {
  return changed.flatMap((property) => {
    if (property === 'attributes') return changedAttributes(before, row);
    return TOLD.get(property) ?? [];
  });
}

function changedAttributes(before: Contact | undefined, row: Contact): string[] {
  if (!before) return Object.keys(row.attributes).map((key) => `attributes.${key}`);
  const old = before.attributes;
  const keys = new Set([...Object.keys(old), ...Object.keys(row.attributes)]);
  return [...keys]
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(row.attributes[key]))
    .map((key) => `attributes.${key}`);
}
