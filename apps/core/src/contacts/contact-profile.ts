import { normalEmail } from '../identities/identity-value.js';
import { childPointer } from '../ingestion/json-pointer.js';
import { KNOWN_TRAITS, readTrait, type KnownTrait } from './known-traits.js';

/** What an event keeps of something in it that could not be used. */
export interface Warning {
  pointer: string;
  code: string;
}

/** When each field and each attribute was last said to be what it is: ISO 8601 in UTC. */
export interface FieldTimes {
  fields: Record<string, string>;
  attributes: Record<string, string>;
}

/** The part of a contact that identifies change. */
export interface ContactProfile {
  email: string | null;
  emailNormal: string | null;
  phone: string | null;
  first_name: string | null;
  last_name: string | null;
  locale: string | null;
  timezone: string | null;
  country: string | null;
  attributes: Record<string, unknown>;
  times: FieldTimes;
}

/** What an identify did to a profile. */
export interface ProfileChange {
  /** Names of the fields whose value is another now, `attributes.<key>` for attributes. */
  changed: string[];
  /** Known traits that were taken, changed or not: their identities may be claimed. */
  taken: KnownTrait[];
  warnings: Warning[];
}

const ATTRIBUTES_LIMIT = 200;
const ATTRIBUTES_BYTES = 64 * 1024;

/** A contact of which nothing is known. */
export function emptyProfile(): ContactProfile {
  return {
    email: null,
    emailNormal: null,
    phone: null,
    first_name: null,
    last_name: null,
    locale: null,
    timezone: null,
    country: null,
    attributes: {},
    times: { fields: {}, attributes: {} },
  };
}

/**
 * Applies the traits of one identify. For each field the latest `occurredAt` wins, whatever order identifies come in;
 * of two at the same instant the one that comes later. A malformed known trait is skipped with a warning.
 */
export function applyTraits(
  profile: ContactProfile,
  traits: Readonly<Record<string, unknown>>,
  occurredAt: string,
): ProfileChange {
  const change: ProfileChange = { changed: [], taken: [], warnings: [] };
  for (const trait of KNOWN_TRAITS) {
    if (Object.hasOwn(traits, trait)) applyKnown(profile, trait, traits[trait], occurredAt, change);
  }
  for (const [key, value] of Object.entries(traits)) {
    if (!isKnown(key)) applyAttribute(profile, key, value, occurredAt, change);
  }
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
  const read = readTrait(trait, sent, profile.country);
  if ('fault' in read) {
    change.warnings.push({ pointer: `/traits/${trait}`, code: read.fault });
    return;
  }
  if (isLate(profile.times.fields, trait, occurredAt)) return;
  change.taken.push(trait);
  if (setField(profile, trait, read.value, occurredAt)) change.changed.push(trait);
}

/** Gives a field its value as of an instant; answers whether the value is another now. */
export function setField(
  profile: ContactProfile,
  field: KnownTrait,
  value: string | null,
  occurredAt: string,
): boolean {
  profile.times.fields[field] = occurredAt;
  if (profile[field] === value) return false;
  profile[field] = value;
  if (field === 'email') profile.emailNormal = value === null ? null : (normalEmail(value) ?? null);
  return true;
}

function applyAttribute(
  profile: ContactProfile,
  key: string,
  value: unknown,
  occurredAt: string,
  change: ProfileChange,
): void {
  if (isLate(profile.times.attributes, key, occurredAt)) return;
  const outcome = setAttribute(profile, key, value, occurredAt);
  if (outcome === 'full') {
    change.warnings.push({ pointer: childPointer('/traits', key), code: 'limit_reached' });
  } else if (outcome === 'changed') change.changed.push(`attributes.${key}`);
}

/** Gives an attribute its value as of an instant, null taking it away; `full` where it would be one too many. */
export function setAttribute(
  profile: ContactProfile,
  key: string,
  value: unknown,
  occurredAt: string,
): 'same' | 'changed' | 'full' {
  const before = JSON.stringify(profile.attributes[key]);
  const after = value === null ? undefined : JSON.stringify(value);
  if (after !== undefined && !fits(profile.attributes, key, value)) return 'full';
  profile.times.attributes[key] = occurredAt;
  if (before === after) return 'same';
  if (after === undefined) delete profile.attributes[key];
  else profile.attributes[key] = value;
  return 'changed';
}

/** Instants are texts of one form, so that they sort as they follow each other. */
function isLate(times: Readonly<Record<string, string>>, name: string, occurredAt: string): boolean {
  const known = Object.hasOwn(times, name) ? times[name] : undefined;
  return known !== undefined && known > occurredAt;
}

function fits(attributes: Readonly<Record<string, unknown>>, key: string, value: unknown): boolean {
  return fitAttributes({ ...attributes, [key]: value });
}

/** Whether so many attributes are not too many for one contact. */
export function fitAttributes(attributes: Readonly<Record<string, unknown>>): boolean {
  return (
    Object.keys(attributes).length <= ATTRIBUTES_LIMIT &&
    Buffer.byteLength(JSON.stringify(attributes)) <= ATTRIBUTES_BYTES
  );
}
