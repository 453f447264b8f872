import type { ResourceChange } from '@customer-platform/database';
import type { NewDomainEvent } from '@customer-platform/event-bus';
import type { List } from './list.entity.js';

/** The fields of a change, by property; how many members there are is told by their own events. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  deletedAt: 'deleted_at',
};

/** `crm.list.*` (crm.md §6). */
export function listEvent({ verb, row, changed }: ResourceChange<List>) {
  return {
    type: `crm.list.${verb}.v1`,
    key: row.id,
    subject: `lists/${row.id}`,
    data: { id: row.id, changed: changed.flatMap((property) => FIELDS[property] ?? []) },
  };
}

/** `crm.list_members.*`: who came or went, in one event for one call. */
export function membersEvent(
  verb: 'added' | 'removed',
  { organizationId, correlationId }: { organizationId: string; correlationId: string },
  listId: string,
  contactIds: readonly string[],
): NewDomainEvent {
  return {
    type: `crm.list_members.${verb}.v1`,
    organizationId,
    key: listId,
    subject: `lists/${listId}`,
    data: { list_id: listId, contact_ids: [...contactIds] },
    correlationId,
  };
}
