import { pointerToken } from '@customer-platform/http';
import {
  acceptAttribute,
  NOTHING_DECLARED,
  type DeclaredAttributes,
} from '../attributes/declared-attributes.js';
import { READ_ANEW, type NormalForms } from '../identities/identity-value.js';
import { recordOf } from '@customer-platform/events';
import {
  KNOWN_TRAITS,
  propertiesOf,
  propertyOf,
  TRAIT_FIELDS,
  type FieldColumns,
  type FieldTimes,
  type KnownTrait,
  type PropertyOf,
} from './contact-field-table.js';
import { readTrait } from './known-traits.js';

/** What an event keeps of something in it that could not be used. */
export interface Warning {
  pointer: string;
  code: string;
}

/** The part of a contact that identifies change. */
export type ContactProfile = Pick<FieldColumns, PropertyOf<KnownTrait>> & {
  attributes: Record<string, unknown>;
  fieldTimes: FieldTimes;
};

/** Its fields, by their properties. */
export const PROFILE_PROPERTIES = propertiesOf(TRAIT_FIELDS);

/** What an identify did to a profile. */
interface ProfileChange {
  /** Names of the fields whose value is another now, `attributes.<key>` for attributes. */
  changed: string[];
  /** Known traits that were taken, changed or not: their identities may be claimed. */
  taken: KnownTrait[];
  warnings: Warning[];
}

const ATTRIBUTES_LIMIT = 200;
const ATTRIBUTES_BYTES = 64 * 1024;
/** Of how many attributes a contact keeps the times: those it has, and as many that were taken away. */
const TIMES_LIMIT = 2 * ATTRIBUTES_LIMIT;

/** So many attributes may be set or taken away at once: all that a contact has for as many others. */
export const MOST_ATTRIBUTES_SENT = TIMES_LIMIT;

/** A contact of which nothing is known. */
export function emptyProfile(): ContactProfile {
  return { ...NO_TRAITS, attributes: {}, fieldTimes: { fields: {}, attributes: {} } };
}
const NO_TRAITS = recordOf(PROFILE_PROPERTIES, () => null);

/** The profile of a contact, apart from it. */
export function profileOf(contact: ContactProfile): ContactProfile {
  return {
    ...recordOf(PROFILE_PROPERTIES, (property) => contact[property]),
    attributes: { ...contact.attributes },
    fieldTimes: structuredClone(contact.fieldTimes),
  };
}

/**
 * Applies the traits of one identify. For each field the latest `occurredAt` wins, whatever order identifies come in;
 * of two at the same instant the one that comes later. A malformed known trait is skipped with a warning, and so is what
 * the definition of an attribute does not take, and all attributes after the first {@link MOST_ATTRIBUTES_SENT}.
 */
export function applyTraits(
  profile: ContactProfile,
  traits: Readonly<Record<string, unknown>>,
  occurredAt: string,
  declared: DeclaredAttributes = NOTHING_DECLARED,
): ProfileChange {
  const change: ProfileChange = { changed: [], taken: [], warnings: [] };
  for (const trait of KNOWN_TRAITS) {
    if (Object.hasOwn(traits, trait)) applyKnown(profile, trait, traits[trait], occurredAt, change);
  }
  const attributes = Object.entries(traits).filter(([key]) => !isKnown(key));
  for (const [key, value] of attributes.slice(0, MOST_ATTRIBUTES_SENT)) {
    applyAttribute(profile, [key, value], occurredAt, change, declared);
  }
  if (attributes.length > MOST_ATTRIBUTES_SENT) {
    change.warnings.push({ pointer: '/traits', code: 'limit_reached' });
  }
  forgetOldest(profile);
  return change;
}

function isKnown(key: string): key is KnownTrait {
  return (KNOWN_TRAITS as readonly string[]).includes(key);
}

function applyKnown(
  profile: ContactProfile,
  trait: KnownTrait,
  sent: unknown,
  occurredAt: string,
  change: ProfileChange,
): void {
  const read = readTrait(trait, sent, profile);
  if ('fault' in read) {
    change.warnings.push({ pointer: `/traits/${trait}`, code: read.fault });
    return;
  }
  if (isLate(profile.fieldTimes.fields, trait, occurredAt)) return;
  change.taken.push(trait);
  if (setField(profile, trait, read.value, occurredAt)) change.changed.push(trait);
}

/** Gives a field its value as of an instant; answers whether the value is another now. */
export function setField(
  profile: ContactProfile,
  field: KnownTrait,
  value: string | null,
  occurredAt: string,
  forms: NormalForms = READ_ANEW,
): boolean {
  profile.fieldTimes.fields[field] = occurredAt;
  const property = propertyOf(field);
  if (profile[property] === value) return false;
  profile[property] = value;
  if (field === 'email')
    profile.emailNormal = value === null ? null : (forms.email(value)?.canonical ?? null);
  return true;
}

function applyAttribute(
  profile: ContactProfile,
  [key, sent]: readonly [string, unknown],
  occurredAt: string,
  change: ProfileChange,
  declared: DeclaredAttributes,
): void {
  const accepted = sent === null ? { value: null } : acceptAttribute(declared, key, sent);
  if ('code' in accepted) {
    change.warnings.push({ pointer: `/traits/${pointerToken(key)}`, code: accepted.code });
    return;
  }
  const { value } = accepted;
  if (isLate(profile.fieldTimes.attributes, key, occurredAt)) return;
  const outcome = setAttribute(profile, key, value, occurredAt);
  if (outcome === 'full') {
    change.warnings.push({ pointer: `/traits/${pointerToken(key)}`, code: 'limit_reached' });
  } else if (outcome === 'changed') change.changed.push(`attributes.${key}`);
}

/**
 * Gives an attribute its value as of an instant, null taking it away; `full` where it would be one too many. After the
 * last one {@link forgetOldest} is due.
 */
export function setAttribute(
  profile: ContactProfile,
  key: string,
  value: unknown,
  occurredAt: string,
): 'same' | 'changed' | 'full' {
  const { attributes } = profile;
  const before = Object.hasOwn(attributes, key) ? JSON.stringify(attributes[key]) : undefined;
  const after = value === null ? undefined : JSON.stringify(value);
  const size = resized(sizeOf(attributes), key, before, after);
  if (after !== undefined && !isWithinLimits(size)) return 'full';
  profile.fieldTimes.attributes[key] = occurredAt;
  if (before === after) return 'same';
  if (after === undefined) delete attributes[key];
  else attributes[key] = value;
  sizes.set(attributes, size);
  return 'changed';
}

/** How many attributes there are, and the bytes of their members in JSON, each with its comma. */
interface AttributesSize {
  readonly count: number;
  readonly bytes: number;
}

/** Kept along: to write all attributes for each that is set would cost the product of both. */
const sizes = new WeakMap<object, AttributesSize>();

function sizeOf(attributes: Readonly<Record<string, unknown>>): AttributesSize {
  const known = sizes.get(attributes);
  if (known) return known;
  const entries = Object.entries(attributes);
  const size = {
    count: entries.length,
    bytes: entries.reduce((sum, [key, value]) => sum + memberBytes(key, JSON.stringify(value)), 0),
  };
  sizes.set(attributes, size);
  return size;
}

function resized(
  { count, bytes }: AttributesSize,
  key: string,
  before: string | undefined,
  after: string | undefined,
): AttributesSize {
  const change = (text: string | undefined): number => (text === undefined ? 0 : memberBytes(key, text));
  return {
    count: count + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1),
    bytes: bytes + change(after) - change(before),
  };
}

/** `"key":value,` */
function memberBytes(key: string, text: string): number {
  return Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(text) + 2;
}

/** With the braces, and without the comma of the last member. */
function isWithinLimits({ count, bytes }: AttributesSize): boolean {
  return count <= ATTRIBUTES_LIMIT && bytes + 1 <= ATTRIBUTES_BYTES;
}

/**
 * That an attribute was taken away is remembered, lest an older identify that comes later sets it again; but of so many
 * only. Otherwise nulls for names that nobody has would make a contact grow without end. It looks at all that is
 * remembered: once for all attributes that are set together.
 */
export function forgetOldest({ attributes, fieldTimes: times }: ContactProfile): void {
  const known = Object.keys(times.attributes);
  if (known.length <= TIMES_LIMIT) return;
  const gone = known
    .filter((key) => !Object.hasOwn(attributes, key))
    .map((key) => ({ key, at: times.attributes[key] ?? '' }))
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  for (const { key } of gone.slice(0, known.length - TIMES_LIMIT)) delete times.attributes[key];
}

/** Instants are texts of one form, so that they sort as they follow each other. */
function isLate(times: Readonly<Record<string, string>>, name: string, occurredAt: string): boolean {
  const known = Object.hasOwn(times, name) ? times[name] : undefined;
  return known !== undefined && known > occurredAt;
}

/** Whether so many attributes are not too many for one contact. */
export function fitAttributes(attributes: Readonly<Record<string, unknown>>): boolean {
  return isWithinLimits(sizeOf(attributes));
}
