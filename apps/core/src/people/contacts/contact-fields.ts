import type { FieldError } from '@customer-platform/problem-json';
import { Problem } from '@customer-platform/problem-json';
import { mergePatch } from '@customer-platform/database';
import { checkFurther, pointerToken } from '@customer-platform/http';
import { acceptAttribute, type DeclaredAttributes } from '../../vocabulary/attributes/declared-attributes.js';
import { readCell, type CellForms } from '../../vocabulary/attributes/declared-cells.js';
import type { Checked } from '../../vocabulary/attributes/declaration.js';
import type { NormalForms } from '../../vocabulary/identities/identity-value.js';
import { normalizeNationalId } from '../../vocabulary/national-ids/national-id.js';
import type { NationalIdType } from '../../vocabulary/national-ids/national-id-types.js';
import { CreateContactDto, UpdateContactDto, type NationalIdInputDto } from './contact.dto.js';
import {
  forgetOldest,
  MOST_ATTRIBUTES_SENT,
  setAttribute,
  setField,
  type ContactProfile,
} from '../../vocabulary/contacts/contact-profile.js';
import { KNOWN_TRAITS, type KnownTrait } from '../../vocabulary/contacts/contact-field-table.js';
import { readTrait, UNKNOWN, type TraitFault } from '../../vocabulary/contacts/known-traits.js';

const DETAILS: Record<TraitFault, string> = {
  wrong_type: 'It must be text.',
  invalid_format: 'It has another form than its kind asks for.',
  too_long: 'It is too long.',
  too_short: 'It must not be blank.',
  invalid_enum: 'It is not among the known values.',
};

/** By what a request is read. */
export interface Moment {
  /** The time, in ISO 8601. */
  readonly now: string;
  /** What is declared of attributes. */
  readonly declared: DeclaredAttributes;
  /** Who reads addresses and numbers, where others ask for them too. */
  readonly forms?: NormalForms;
  /** Texts of attributes are cells of CSV, and read as the declared type. */
  readonly cells?: CellForms;
}

/** The identifiers a contact is found by. */
export interface Identifiers {
  readonly external_id: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/**
 * Applies the fields of a request to a profile, as of now: they win over what was said before, and over a clock that
 * ran ahead. The rules of values are those of identify (core.md §2), but what is malformed refuses the whole.
 * @throws Problem `validation_failed` and the published codes of fields, with every error at once
 */
export function applyFields(profile: ContactProfile, body: UpdateContactDto, moment: Moment): void {
  const errors: FieldError[] = [];
  for (const field of KNOWN_TRAITS) applyField(profile, field, body[field], moment, errors);
  if (body.attributes !== undefined) applyAttributes(profile, body.attributes, moment, errors);
  if (errors.length > 0) throw Problem.validation(errors);
}

/** Returns a check for what is wrong with fields of a request whatever the contact is. */
function faultsIn(fields: readonly KnownTrait[]): (body: UpdateContactDto) => FieldError[] {
  return (body) =>
    fields.flatMap((field) => {
      const sent: unknown = body[field];
      const read = typeof sent === 'string' ? readTrait(field, sent, UNKNOWN) : undefined;
      return read && 'fault' in read ? [faultOf(field, read)] : [];
    });
}
/** A phone is read by the contact's country, and one that the contact has is taken, as is its address. */
const WITHOUT_PHONE = KNOWN_TRAITS.filter((field) => field !== 'phone');
checkFurther(CreateContactDto, faultsIn(WITHOUT_PHONE));
checkFurther(UpdateContactDto, faultsIn(WITHOUT_PHONE.filter((field) => field !== 'email')));

function faultOf(
  field: KnownTrait,
  { fault, detail }: { readonly fault: TraitFault; readonly detail?: string },
): FieldError {
  return { pointer: `/${field}`, code: fault, detail: detail ?? DETAILS[fault] };
}

function applyField(
  profile: ContactProfile,
  field: KnownTrait,
  sent: string | null | undefined,
  { now, forms }: Moment,
  errors: FieldError[],
): void {
  if (sent === undefined) return;
  const read = readTrait(field, sent, profile, forms);
  if ('fault' in read) errors.push(faultOf(field, read));
  else setField(profile, field, read.value, latest(profile.fieldTimes.fields[field], now), forms);
}

/** Attributes merge key by key and within a key; null takes away, one key or all. */
function applyAttributes(
  profile: ContactProfile,
  sent: Record<string, unknown> | null,
  { now, declared, cells }: Moment,
  errors: FieldError[],
): void {
  const given = sent ?? Object.fromEntries(Object.keys(profile.attributes).map((key) => [key, null]));
  const entries = Object.entries(given);
  if (entries.length > MOST_ATTRIBUTES_SENT) {
    const detail = `At most ${MOST_ATTRIBUTES_SENT} attributes are set or taken away at once.`;
    errors.push({ pointer: '/attributes', code: 'too_long', detail });
    return;
  }
  for (const [key, value] of entries) {
    const pointer = `/attributes/${pointerToken(key)}`;
    const merged: unknown = value === null ? null : mergePatch(profile.attributes[key], value);
    const accepted = merged === null ? { value: null } : accept(declared, key, merged, cells);
    if ('code' in accepted) {
      errors.push({ pointer, ...accepted });
      continue;
    }
    const at = latest(profile.fieldTimes.attributes[key], now);
    if (setAttribute(profile, key, accepted.value, at) !== 'full') continue;
    errors.push({
      pointer,
      code: 'too_long',
      detail: 'A contact has at most 200 attributes of 64 KiB together.',
    });
    return;
  }
  forgetOldest(profile);
}

/** Finds faults of cells of CSV that fill attributes, whatever else the row says. */
export function faultsOfCells(
  given: Record<string, unknown> | null | undefined,
  declared: DeclaredAttributes,
  cells: CellForms,
): FieldError[] {
  return Object.entries(given ?? {}).flatMap(([key, cell]) => {
    const read = accept(declared, key, cell, cells);
    return 'code' in read ? [{ pointer: `/attributes/${pointerToken(key)}`, ...read }] : [];
  });
}

function accept(
  declared: DeclaredAttributes,
  key: string,
  value: unknown,
  cells: CellForms | undefined,
): Checked {
  const attribute = declared.get(key);
  if (!cells || !attribute || typeof value !== 'string') return acceptAttribute(declared, key, value);
  const read = readCell(attribute.declared, value, cells(key));
  return 'code' in read ? read : acceptAttribute(declared, key, read.value);
}

/**
 * A contact is found by something.
 * @throws Problem `validation_failed`
 */
export function demandIdentifier({ external_id, email, phone }: Identifiers): void {
  if (external_id !== null || email !== null || phone !== null) return;
  const detail = 'One of `external_id`, `email` and `phone` is required.';
  throw Problem.validation([{ pointer: '/external_id', code: 'required', detail }]);
}

/**
 * The external id after a PATCH: it is set once.
 * @throws Problem `validation_failed` with `immutable`
 */
export function externalIdAfter(current: string | null, sent: string | null | undefined): string | null {
  if (sent === undefined || sent === current) return current;
  if (current === null) return sent;
  const detail = '`external_id` is set once.';
  throw Problem.validation([{ pointer: '/external_id', code: 'immutable', detail }]);
}

/**
 * The value of a national id as it is stored.
 * @throws Problem `invalid_national_id`, `placeholder_identifier`; neither quotes the value
 */
export function readNationalId({ type, value }: NationalIdInputDto): { type: NationalIdType; value: string } {
  const read = normalizeNationalId(type, value);
  if ('value' in read) return { type, value: read.value };
  const detail =
    read.problem === 'invalid_national_id'
      ? 'It is no national id of its type, or its check digit is wrong.'
      : 'It stands for no national id.';
  throw Problem.validation([{ pointer: '/national_id/value', code: read.problem, detail }]);
}

function latest(known: string | undefined, now: string): string {
  return known !== undefined && known > now ? known : now;
}
