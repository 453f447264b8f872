import type { ActivityTypeDto } from './activity-type.dto.js';
import type { ActivityType } from './activity-type.entity.js';

/** An activity type as the API answers it. */
export function toActivityTypeDto(activityType: ActivityType): ActivityTypeDto {
  return {
    id: activityType.id,
    key: activityType.key,
    name: activityType.name,
    outcomes: activityType.outcomes,
    outcome_required: activityType.outcomeRequired,
    fields: activityType.fields,
    created_at: activityType.createdAt.toISOString(),
    updated_at: activityType.updatedAt.toISOString(),
    deleted_at: activityType.deletedAt?.toISOString() ?? null,
  };
}
