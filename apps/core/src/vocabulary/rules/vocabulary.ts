import { FIELD_NAMES } from '../contacts/contact-field-table.js';

/** The fields of a contact that a rule can ask for, beside its attributes. Never the national id. */
export const RULE_FIELDS = [...FIELD_NAMES, 'source', 'created_at'] as const;

/** A field of a contact that a rule can ask for. */
export type RuleField = (typeof RULE_FIELDS)[number];

const LONGEST_PATH = 250;

/** Whether a text names something of a contact that a rule can ask for. */
export function isAttributePath(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > LONGEST_PATH) return false;
  if ((RULE_FIELDS as readonly string[]).includes(value)) return true;
  return value.startsWith('attributes.') && value.split('.').every((part) => part !== '');
}
