import { randomUUID } from 'node:crypto';
import type { DomainEvent, EventData, EventType } from '@customer-platform/events';

/** An event as core publishes it. */
export function event<T extends EventType>(
  type: T,
  organizationId: string,
  data: EventData<T>,
): DomainEvent<T> {
  return {
    specversion: '1.0',
    id: randomUUID(),
    type,
    source: 'urn:customer-platform:core',
    subject: 'contacts/x',
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    organizationid: organizationId,
    correlationid: randomUUID(),
    data,
  };
}

/** What core says of a contact that changed. */
export function changeOf(
  id: string,
  version: number,
  state: 'active' | 'deleted' = 'active',
): EventData<'core.contact.created.v1'> {
  const nothing = { external_id: null, email: null, phone: null, first_name: null, last_name: null };
  const contact = { id, ...nothing, locale: null, timezone: null, country: null, attributes: {}, state };
  return { contact_id: id, version, changed_fields: [], contact };
}
