import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NewDomainEvent } from '@customer-platform/event-bus';

/** A list; `memberCount` is moved by whoever writes members, under the lock of the row. */
@Entity('lists')
export class List implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('integer') memberCount: number;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

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
