import { REFUSALS, type ContactReference } from '@customer-platform/contact-refs';
import { isUuid, WriteConflict, type Transaction } from '@customer-platform/database';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { CONTACT, type FieldValues, type ReferenceField } from '../../fields/field.js';
import { refersToContact } from '../../fields/object-fields.js';
import type { KnownDefinition } from '../definitions/known-definition.js';

/** As their foreign key locks them later: one that is being purged is waited for, and is not there then. */
const FOUND = `
  SELECT record.id, record.definition_id, record.deleted_at IS NOT NULL OR definition.deleted_at IS NOT NULL AS deleted
    FROM object_records AS record
    JOIN object_definitions AS definition
      ON definition.organization_id = record.organization_id AND definition.id = record.definition_id
   WHERE record.organization_id = $1 AND record.id = ANY($2::uuid[]) ORDER BY record.id FOR KEY SHARE OF record`;

const RECORD_REFUSALS = {
  reference_not_found: 'There is no such record.',
  reference_deleted: 'This record is soft-deleted.',
} as const;

interface Given {
  readonly field: ReferenceField;
  readonly id: string;
}

/** The contacts that values name anew: those that are stored already stay as they are. */
export function contactsNamed(
  { fields }: KnownDefinition,
  given: FieldValues,
  stored: FieldValues = {},
): string[] {
  const named = fields.filter(refersToContact).flatMap(({ key }) => {
    const value = given[key];
    // What is no id is refused with the record, and nobody is asked about it.
    if (typeof value !== 'string' || !isUuid(value) || value.toLowerCase() === stored[key]) return [];
    return [value.toLowerCase()];
  });
  return [...new Set(named)];
}

/**
 * The values with those that contacts stand for now in the place of merged ones. What is referred to for the first time
 * must be there, and active.
 * @param contacts what each contact that was named stands for
 * @throws Problem `reference_not_found`, `reference_deleted`, `dependency_unavailable`, each with the field
 */
export async function referTo(
  tx: Transaction,
  { fields }: KnownDefinition,
  values: FieldValues,
  { stored = {}, contacts }: { stored?: FieldValues; contacts: ReadonlyMap<string, ContactReference> },
): Promise<Record<string, unknown>> {
  const given = fields.flatMap((field): Given[] => {
    const value = values[field.key];
    const isNew = field.type === 'reference' && typeof value === 'string' && value !== stored[field.key];
    return isNew ? [{ field, id: value }] : [];
  });
  const errors: FieldError[] = [];
  const changed = given.filter(({ field }) => field.target === CONTACT);
  const resolved = changed.map(({ field, id }): [string, string] => {
    const contact = contacts.get(id);
    // The record has changed since it was looked at.
    if (!contact) throw new WriteConflict('The definition has changed meanwhile');
    if ('contactId' in contact) return [field.key, contact.contactId];
    errors.push({ pointer: `/values/${field.key}`, code: contact.code, detail: REFUSALS[contact.code] });
    return [field.key, id];
  });
  errors.push(...(await recordErrors(tx, given)));
  const [first] = errors;
  if (first) throw new Problem(first.code as keyof typeof REFUSALS, { detail: first.detail, errors });
  return { ...values, ...Object.fromEntries(resolved) };
}

async function recordErrors(tx: Transaction, given: readonly Given[]): Promise<FieldError[]> {
  const toRecords = given.filter(({ field }) => field.target !== CONTACT);
  if (toRecords.length === 0) return [];
  const rows = await tx.query<{ id: string; definition_id: string; deleted: boolean }>(FOUND, [
    tx.organizationId,
    toRecords.map(({ id }) => id),
  ]);
  return toRecords.flatMap(({ field, id }): FieldError[] => {
    const row = rows.find((each) => each.id === id && each.definition_id === field.target);
    if (row && !row.deleted) return [];
    const code = row ? 'reference_deleted' : 'reference_not_found';
    return [{ pointer: `/values/${field.key}`, code, detail: RECORD_REFUSALS[code] }];
  });
}
