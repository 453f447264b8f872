import type { ContactId, ContactRef } from '@customer-platform/contact-refs';
import { sharedFieldsOf, type SharedContactFields } from '@customer-platform/events';
import { checkAddress } from '../addresses/address.js';
import type { Channel } from '../addresses/channel.js';

/** A contact as messaging knows it. */
export interface Contact extends ContactRef {
  readonly profile: ContactProfile;
}

/** What templates and conditions read of a contact; a field without a value is null, never missing. */
export interface ContactProfile extends SharedContactFields {
  readonly id: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The profile of a recipient nobody knows. */
export const UNKNOWN_PROFILE: ContactProfile = { id: null, ...sharedFieldsOf({}), attributes: {} };

/** Where a contact is reached on a channel; null: nowhere. `token` is its latest device, undefined while that is not known. */
export function addressOf<Token extends string | null | undefined>(
  profile: ContactProfile,
  channel: Channel,
  token: Token,
): string | null | Token {
  switch (channel) {
    case 'email':
      return profile.email;
    case 'sms':
    case 'whatsapp':
      return profile.phone;
    case 'in_app':
      return profile.id;
    case 'push':
      return token;
  }
}

/** The forms of a contact's addresses that an address given in a send is compared with. */
export function canonicalAddresses(profile: ContactProfile): { email: string | null; phone: string | null } {
  return {
    email: profile.email === null ? null : (checkAddress('email', profile.email)?.canonical ?? null),
    phone: profile.phone === null ? null : (checkAddress('sms', profile.phone)?.canonical ?? null),
  };
}

/** How a contact stands in `preferences`, beside the keys of addresses. */
export function contactSubject({ id }: Pick<ContactId, 'id'>): string {
  return `contact:${id}`;
}
