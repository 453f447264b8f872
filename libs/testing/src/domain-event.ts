import { newId } from '@customer-platform/database';
import {
  EVENTS,
  sharedFieldsOf,
  sourceOf,
  type DomainEvent,
  type EventData,
  type EventType,
} from '@customer-platform/events';

/** What a test says of an event; the rest of the envelope is made up. */
export interface ProbeEvent<T extends EventType> {
  type: T;
  organizationId: string;
  data: EventData<T>;
  id?: string;
  correlationId?: string;
  /** Now, unless given. */
  time?: string;
}

/** What the events of one aggregate are kept in order by. */
export function keyOf(event: Pick<DomainEvent, 'type' | 'data'>): string {
  return String((event.data as Record<string, unknown>)[EVENTS[event.type].key]);
}

/** An event in the envelope in which its module publishes it. */
export function envelopeOf<T extends EventType>(event: ProbeEvent<T>): DomainEvent {
  const { type, organizationId, data, id = newId(), correlationId = newId(), time } = event;
  const content = { type, data } as Pick<DomainEvent, 'type' | 'data'>;
  return {
    specversion: '1.0',
    id,
    source: sourceOf(type),
    subject: keyOf(content),
    time: time ?? new Date().toISOString(),
    datacontenttype: 'application/json',
    organizationid: organizationId,
    correlationid: correlationId,
    ...content,
  } as DomainEvent;
}

/** As {@link envelopeOf}, of an event of which nothing else matters. */
export function domainEvent<T extends EventType>(
  type: T,
  organizationId: string,
  data: EventData<T>,
): DomainEvent<T> {
  return envelopeOf({ type, organizationId, data }) as unknown as DomainEvent<T>;
}

/** What core says of a contact that changed. */
export function contactChange(
  id: string,
  version: number,
  state: 'active' | 'deleted' = 'active',
): EventData<'core.contact.created.v1'> {
  const contact = { id, ...sharedFieldsOf({}), attributes: {}, state };
  return { contact_id: id, version, changed_fields: [], contact };
}
