import { namesOf, recordOf } from '@customer-platform/events';
import { sameJson } from '@customer-platform/database';
import {
  conformAttributes,
  type DeclaredAttributes,
} from '../../vocabulary/attributes/declared-attributes.js';
import type { Contact } from '../contacts/contact.entity.js';
import { fitAttributes } from '../../vocabulary/contacts/contact-profile.js';
import {
  FIELD_NAMES,
  NATIONAL_ID_COLUMNS,
  propertiesOf,
  type FieldTimes,
} from '../../vocabulary/contacts/contact-field-table.js';

/** Whose value of a field stays. */
export type Side = 'survivor' | 'merged';

/** The fields that `keep` may name, besides `attributes.<key>`. */
export const MERGED_FIELDS = [...FIELD_NAMES, 'national_id'] as const;

type MergedField = (typeof MERGED_FIELDS)[number];
type Content = Partial<Contact>;

/** The properties of each field. */
const PROPERTIES: Readonly<Record<MergedField, readonly (keyof Contact)[]>> = {
  ...recordOf(FIELD_NAMES, (field) => propertiesOf([field])),
  national_id: namesOf(NATIONAL_ID_COLUMNS),
};

const ATTRIBUTE = 'attributes.';

/** A field in which the two differ, and whose value stays; a national id is shown masked. */
export interface ComparedField {
  readonly field: string;
  readonly survivor: unknown;
  readonly merged: unknown;
  readonly kept: Side;
}

/** What stands in a field, and since when it was said; an attribute that is not there has no `value`. */
interface Slot {
  readonly value?: unknown;
  readonly time: string | null;
}

/** What a merge made of a field of the survivor. */
export interface FieldChange {
  readonly field: string;
  readonly before: Slot;
  readonly after: Slot;
}

/** What a merge comes to, field by field. */
export interface FieldPlan {
  readonly fields: readonly ComparedField[];
  readonly changes: readonly FieldChange[];
  /** What stands in the way. */
  readonly blockers: readonly { code: string; field: string }[];
}

/**
 * Compares two contacts (core.md §4): the survivor's values win, gaps are filled from the other, `keep` overrides.
 * What was said of a field of either counts as said of the outcome, so that no late event undoes the choice.
 */
export function planFields(
  survivor: Contact,
  merged: Contact,
  keep: Readonly<Record<string, Side>>,
): FieldPlan {
  const fields: ComparedField[] = [];
  const changes: FieldChange[] = [];
  for (const field of fieldsOf(survivor, merged)) {
    const [own, other] = [slotOf(survivor, field), slotOf(merged, field)];
    const kept = keep[field] ?? (isEmpty(field, own) && !isEmpty(field, other) ? 'merged' : 'survivor');
    const chosen = kept === 'merged' ? other : own;
    const after: Slot = { ...valueOf(chosen), time: later(own.time, other.time) };
    if (!sameValue(field, own, other)) {
      fields.push({ field, survivor: shown(survivor, field), merged: shown(merged, field), kept });
    }
    if (!sameJson(own, after)) changes.push({ field, before: own, after });
  }
  const conflict = fields.some(
    ({ field, survivor: own, merged: other }) => field === 'national_id' && own !== null && other !== null,
  );
  const blockers = [
    ...(conflict && keep['national_id'] === undefined
      ? [{ code: 'national_id_conflict', field: 'national_id' }]
      : []),
    ...(fitAttributes(contentAfter(survivor, changes).attributes ?? {})
      ? []
      : [{ code: 'limit_reached', field: 'attributes' }]),
  ];
  return { fields, changes, blockers };
}

/** The columns of a contact with every change made to it. */
export function contentAfter(contact: Contact, changes: readonly FieldChange[]): Content {
  return withSlots(
    contact,
    changes.map(({ field, after }) => ({ field, slot: after })),
  );
}

/**
 * The columns of a contact with every change taken back on which nobody has written since. That a national id was sealed
 * anew, or an attribute converted to its definition's new type, is nobody's word.
 */
export function contentBefore(
  declared: DeclaredAttributes,
  contact: Contact,
  changes: readonly FieldChange[],
): Content {
  const untouched = changes.filter(({ field, after }) => {
    const now = slotOf(contact, field);
    return (
      now.time === after.time &&
      sameValue(field, fitting(declared, field, now), fitting(declared, field, after))
    );
  });
  return withSlots(
    contact,
    untouched.map(({ field, before }) => ({ field, slot: before })),
  );
}

/** The fields of a merge that is undone, with what the two have in them now. */
export function fieldsNow(
  survivor: Contact,
  merged: Contact,
  fields: readonly Pick<ComparedField, 'field' | 'kept'>[],
): ComparedField[] {
  return fields.map(({ field, kept }) => ({
    field,
    survivor: shown(survivor, field),
    merged: shown(merged, field),
    kept,
  }));
}

/** Columns whose attributes fit what is declared of them now. */
export function conformed(declared: DeclaredAttributes, content: Content): Content {
  const { attributes } = content;
  return attributes ? { ...content, attributes: { ...conformAttributes(declared, attributes) } } : content;
}

/** The fields whose values differ between a contact and columns for it, by the names that events tell. */
export function changedNames(contact: Contact, content: Content): string[] {
  const after = { ...contact, ...content };
  return fieldsOf(contact, after).filter(
    (field) => !sameValue(field, slotOf(contact, field), slotOf(after, field)),
  );
}

function fieldsOf(...contacts: readonly Contact[]): string[] {
  const keys = contacts.flatMap(({ attributes, fieldTimes }) => [
    ...Object.keys(attributes),
    ...Object.keys(fieldTimes.attributes),
  ]);
  return [...MERGED_FIELDS, ...[...new Set(keys)].sort().map((key) => `${ATTRIBUTE}${key}`)];
}

function slotOf(contact: Contact, field: string): Slot {
  if (field.startsWith(ATTRIBUTE)) {
    const key = field.slice(ATTRIBUTE.length);
    const time = own(contact.fieldTimes.attributes, key) ?? null;
    return Object.hasOwn(contact.attributes, key) ? { value: contact.attributes[key], time } : { time };
  }
  const columns = PROPERTIES[field as MergedField];
  const value = Object.fromEntries(columns.map((column) => [column, contact[column]]));
  return { value, time: own(contact.fieldTimes.fields, field) ?? null };
}

function valueOf(slot: Slot): { value?: unknown } {
  return 'value' in slot ? { value: slot.value } : {};
}

function isEmpty(field: string, slot: Slot): boolean {
  if (field.startsWith(ATTRIBUTE)) return !('value' in slot);
  return Object.values(slot.value as Content).every((column) => column === null);
}

function fitting(declared: DeclaredAttributes, field: string, slot: Slot): Slot {
  if (!field.startsWith(ATTRIBUTE) || !('value' in slot)) return slot;
  const key = field.slice(ATTRIBUTE.length);
  const fits = conformAttributes(declared, { [key]: slot.value });
  return Object.hasOwn(fits, key) ? { value: fits[key], time: slot.time } : { time: slot.time };
}

/** A sealed national id differs each time it is sealed; its index does not. */
function sameValue(field: string, one: Slot, other: Slot): boolean {
  if (field !== 'national_id') return sameJson(valueOf(one), valueOf(other));
  const of = ({ value }: Slot) => (value as Content).nationalIdIndex;
  return of(one) === of(other);
}

function shown(contact: Contact, field: string): unknown {
  if (field === 'national_id') {
    const { nationalIdType: type, nationalIdMasked: masked } = contact;
    return type === null ? null : { type, masked };
  }
  if (field.startsWith(ATTRIBUTE)) return slotOf(contact, field).value ?? null;
  const [column] = PROPERTIES[field as MergedField];
  return column ? contact[column] : null;
}

function withSlots(contact: Contact, slots: readonly { field: string; slot: Slot }[]): Content {
  const attributes = { ...contact.attributes };
  const times: FieldTimes = structuredClone(contact.fieldTimes);
  const content: Content = {};
  for (const { field, slot } of slots) {
    if (field.startsWith(ATTRIBUTE)) {
      const key = field.slice(ATTRIBUTE.length);
      if ('value' in slot) attributes[key] = slot.value;
      else delete attributes[key];
      setTime(times.attributes, key, slot.time);
    } else {
      Object.assign(content, slot.value);
      setTime(times.fields, field, slot.time);
    }
  }
  return { ...content, attributes, fieldTimes: times };
}

function setTime(times: Record<string, string>, name: string, time: string | null): void {
  if (time === null) delete times[name];
  else times[name] = time;
}

function later(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

function own(times: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(times, name) ? times[name] : undefined;
}
