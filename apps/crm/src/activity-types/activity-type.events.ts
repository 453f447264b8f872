import type { ResourceChange } from '@customer-platform/database';
import type { ActivityType } from './activity-type.entity.js';

/** The fields that are named otherwise than their properties. */
const FIELDS: Readonly<Record<string, string>> = {
  outcomeRequired: 'outcome_required',
  deletedAt: 'deleted_at',
};

/** `crm.activity_type.*` (crm.md §6): what changed, by name. */
export function activityTypeEvent({ verb, row, changed }: ResourceChange<ActivityType>) {
  return {
    type: `crm.activity_type.${verb}.v1`,
    key: row.id,
    subject: `activity-types/${row.id}`,
    data: { id: row.id, changed: changed.map((property) => FIELDS[property] ?? property) },
  };
}
