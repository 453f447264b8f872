import type { ResourceChange } from '@customer-platform/database';
import type { NewDomainEvent } from '@customer-platform/event-bus';
import type { Activity, ActivityStatus } from './activity.entity.js';

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
