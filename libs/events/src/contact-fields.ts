import { z } from 'zod';
import { namesOf, recordOf } from './names.js';

const text = z.string().nullable();

/**
 * Fields of a contact that every module is told of, each as it stands on the wire (core.md §2). One that is added is
 * `.optional()`: releases run side by side, and the one before does not tell it.
 */
export const SHARED_CONTACT_FIELDS = {
  external_id: text,
  email: text,
  phone: text,
  first_name: text,
  last_name: text,
  locale: text,
  timezone: text,
  country: text,
};

/** Names a field of a contact that every module is told of. */
export type SharedContactField = keyof typeof SHARED_CONTACT_FIELDS;

/** The fields of a contact as every module is told of them; a field without a value is null, never missing. */
export type SharedContactFields = {
  readonly [Field in keyof typeof SHARED_CONTACT_FIELDS]: string | null;
};

/** The names of these fields, in the order in which they are told. */
export const SHARED_CONTACT_NAMES = namesOf(SHARED_CONTACT_FIELDS);

/** Picks these fields of what was told: what is more is left out, and what an older release does not tell is null. */
export function sharedFieldsOf(told: {
  readonly [Field in keyof typeof SHARED_CONTACT_FIELDS]?: string | null | undefined;
}): SharedContactFields {
  return recordOf(SHARED_CONTACT_NAMES, (field) => told[field] ?? null);
}
