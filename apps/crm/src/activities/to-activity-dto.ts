import type { Field } from '../fields/field.js';
import { shownValues } from '../fields/field-values.js';
import type { ActivityDto } from './activity.dto.js';
import type { Activity } from './activity.entity.js';

/** An activity with the fields of its type, which say what of its values is shown. */
export interface ShownActivity {
  readonly activity: Activity;
  readonly fields: readonly Field[];
}

/** An activity as the API answers it. */
export function toActivityDto({ activity, fields }: ShownActivity): ActivityDto {
  return {
    id: activity.id,
    contact_id: activity.contactId,
    type_id: activity.typeId,
    subject: activity.subject,
    description: activity.description,
    due_at: activity.dueAt?.toISOString() ?? null,
    assignee_id: activity.assigneeId,
    status: activity.status,
    outcome: activity.outcome,
    values: shownValues(fields, activity.values),
    completed_at: activity.completedAt?.toISOString() ?? null,
    author: { type: activity.authorType, id: activity.authorId },
    created_at: activity.createdAt.toISOString(),
    updated_at: activity.updatedAt.toISOString(),
    deleted_at: activity.deletedAt?.toISOString() ?? null,
  };
}
