import type { ContactDto } from './contact.dto.js';
import type { Contact } from './contact.entity.js';

/** A contact with the time of its latest event, which is kept apart from it. */
export type SeenContact = Contact & { lastSeenAt: Date };

/** A contact as the API answers it. */
export function toContactDto(contact: SeenContact): ContactDto {
  const { nationalIdType: type, nationalIdMasked: masked } = contact;
  return {
    id: contact.id,
    external_id: contact.externalId,
    email: contact.email,
    phone: contact.phone,
    first_name: contact.firstName,
    last_name: contact.lastName,
    birth_date: contact.birthDate,
    locale: contact.locale,
    timezone: contact.timezone,
    country: contact.country,
    national_id: type === null || masked === null ? null : { type, masked },
    attributes: contact.attributes,
    version: contact.version,
    source: contact.source,
    last_seen_at: contact.lastSeenAt.toISOString(),
    created_at: contact.createdAt.toISOString(),
    updated_at: contact.updatedAt.toISOString(),
    deleted_at: contact.deletedAt?.toISOString() ?? null,
  };
}
