import { PLAIN_FIELDS } from '../../contacts/plain-fields.js';

/** The fields of a contact that a rule can ask for, beside its attributes. Never the national id. */
export const CONTACT_FIELDS = [...PLAIN_FIELDS, 'source', 'created_at'] as const;

/** A field of a contact that a rule can ask for. */
export type ContactField = (typeof CONTACT_FIELDS)[number];

const LONGEST_PATH = 250;

/** Whether a text names something of a contact that a rule can ask for. */
export function isAttributePath(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > LONGEST_PATH) return false;
  if ((CONTACT_FIELDS as readonly string[]).includes(value)) return true;
  return value.startsWith('attributes.') && value.split('.').every((part) => part !== '');
}
