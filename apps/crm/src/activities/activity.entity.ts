import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NewDomainEvent } from '@customer-platform/event-bus';
import type { FieldValues } from '../fields/field.js';

/** States of an activity (crm.md §2). */
export const ACTIVITY_STATUSES = ['open', 'completed', 'cancelled'] as const;

/** The state of an activity. */
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];

@Entity('activities')
export class Activity implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') contactId: string;
  @Column('uuid') originContactId: string;
  @Column('uuid') typeId: string;
  @Column('text') subject: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('timestamptz', { nullable: true }) dueAt: Date | null;
  @Column('uuid', { nullable: true }) assigneeId: string | null;
  @Column('text') status: ActivityStatus;
  @Column('text', { nullable: true }) outcome: string | null;
  @Column('jsonb') values: FieldValues;
  @Column('timestamptz', { nullable: true }) completedAt: Date | null;
  @Column('text') authorType: string;
  @Column('text') authorId: string;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

/** The fields of a change, by property; who wrote the activity, and where first, is no news. */
const FIELDS: Readonly<Record<string, string>> = {
  contactId: 'contact_id',
  typeId: 'type_id',
  subject: 'subject',
  description: 'description',
  dueAt: 'due_at',
  assigneeId: 'assignee_id',
  status: 'status',
  outcome: 'outcome',
  values: 'values',
  completedAt: 'completed_at',
  deletedAt: 'deleted_at',
};

/** `crm.activity.*` (crm.md §6): the contact's id is the key. Never text or values. */
export function activityEvent({ verb, row, changed }: ResourceChange<Activity>) {
  return {
    type: `crm.activity.${verb}.v1`,
    key: row.contactId,
    subject: `activities/${row.id}`,
    data: {
      id: row.id,
      contact_id: row.contactId,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}

const TURNS = { completed: 'completed', cancelled: 'cancelled', open: 'reopened' } as const;

/** What is told beside the change when an activity has come into another state; new ones come from `open`. */
export function turnEvent(
  correlationId: string,
  before: ActivityStatus,
  activity: Activity,
): NewDomainEvent[] {
  const { status, organizationId, id, contactId, typeId, outcome } = activity;
  if (status === before) return [];
  return [
    {
      type: `crm.activity.${TURNS[status]}.v1`,
      organizationId,
      key: contactId,
      subject: `activities/${id}`,
      data: { id, contact_id: contactId, type_id: typeId, outcome },
      correlationId,
    },
  ];
}
