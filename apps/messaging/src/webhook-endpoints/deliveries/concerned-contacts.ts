import type { DomainEvent } from '@customer-platform/events';

/** They tell that a person is to go or has gone, and nothing of it but the id. */
const TELL_THE_END = /^core\.(contact\.(erased|purged)|erasure\.|subject_request\.)/;

/** The fields in which the catalogue of events names contacts. */
interface Naming {
  readonly contact_id?: unknown;
  readonly survivor_id?: unknown;
  readonly merged_id?: unknown;
  readonly contact_ids?: unknown;
  /** An event that a replayed dead letter carries. */
  readonly recorded?: Naming | null;
}

/** The contacts that an event is about, each once. */
export function concernedContacts({ data }: DomainEvent): string[] {
  return [...new Set(idsIn(data as Naming))];
}

/**
 * What may still be told of an event when some of its contacts have been erased: all of it, a list of contacts without
 * them, or undefined where it is about nobody else.
 */
export function withoutErased(
  event: DomainEvent,
  isErased: (contactId: string) => boolean,
): DomainEvent | undefined {
  if (TELL_THE_END.test(event.type)) return event;
  const ids = concernedContacts(event);
  if (!ids.some(isErased)) return event;
  const { data } = event;
  if (!('contact_ids' in data) || data.contact_ids === undefined) return undefined;
  const left = data.contact_ids.filter((id) => !isErased(id));
  if (left.length === 0) return undefined;
  return { ...event, data: { ...data, contact_ids: left } } as DomainEvent;
}

function idsIn(data: Naming): string[] {
  const { contact_id, survivor_id, merged_id, contact_ids, recorded } = data;
  const many: unknown[] = Array.isArray(contact_ids) ? contact_ids : [];
  const own = [contact_id, survivor_id, merged_id, ...many].filter((id) => typeof id === 'string');
  return recorded ? [...own, ...idsIn(recorded)] : own;
}
