import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, PatchOf, SameAs, type ListDefinition } from '@customer-platform/http';
import { IsArray, IsBoolean, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { FIELD_SCHEMA } from '../fields/field.dto.js';
import { LONGEST_LABEL } from '../fields/refusals.js';
import { MOST_OUTCOMES } from './outcome.js';
import type { ActivityType } from './activity-type.entity.js';
import { RANGES } from '../range-ops.js';

const KEY_PATTERN = '^[a-z][a-z0-9_]{1,39}$';
const OUTCOMES = {
  type: 'array' as const,
  maxItems: MOST_OUTCOMES,
  items: {
    type: 'object' as const,
    required: ['key'],
    additionalProperties: false,
    properties: {
      key: { type: 'string' as const, pattern: KEY_PATTERN },
      label: { type: 'string' as const, minLength: 1, maxLength: LONGEST_LABEL },
      archived: { type: 'boolean' as const, default: false },
    },
  },
  example: [{ key: 'reached', label: 'Reached', archived: false }],
};
const FIELDS = {
  type: 'array' as const,
  maxItems: 30,
  items: FIELD_SCHEMA,
  description: 'What `values` of the activities hold.',
  example: [{ key: 'minutes', label: 'Minutes', type: 'integer', min: 0, max: 600 }],
};

/** What `POST /v1/crm/activity-types` takes. */
export class CreateActivityTypeDto {
  @ApiProperty({ example: 'site_visit' })
  @IsString()
  @Matches(new RegExp(KEY_PATTERN))
  key: string;

  @ApiProperty({ example: 'Site visit' })
  @IsString()
  @MinLength(1)
  @MaxLength(60)
  name: string;

  @ApiProperty({ ...OUTCOMES, default: [] })
  @MayBeAbsent()
  @IsArray()
  outcomes?: unknown[];

  @ApiProperty({
    default: false,
    description: 'Whether an activity of this type can be completed only with an outcome.',
  })
  @MayBeAbsent()
  @IsBoolean()
  outcome_required?: boolean;

  @ApiProperty({ ...FIELDS, default: [] })
  @MayBeAbsent()
  @IsArray()
  fields?: unknown[];
}

/** What `PATCH /v1/crm/activity-types/{id}` takes: JSON merge; lists are given whole. */
export class UpdateActivityTypeDto extends PatchOf(CreateActivityTypeDto, { immutable: ['key'] }) {}

/** An activity type as it is answered. */
export class ActivityTypeDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateActivityTypeDto) key: string;
  @SameAs(CreateActivityTypeDto) name: string;
  @SameAs(CreateActivityTypeDto) outcomes: readonly object[];
  @SameAs(CreateActivityTypeDto) outcome_required: boolean;
  @SameAs(CreateActivityTypeDto) fields: readonly object[];
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

/** `GET /v1/crm/activity-types` (crm.md §2). */
export const ACTIVITY_TYPES_LIST: ListDefinition = {
  resource: 'crm.activity_types',
  filters: {
    key: { type: 'string', column: 'key', ops: ['eq'] },
    name: { type: 'string', column: 'lower(name)', ops: ['eq', 'prefix'] },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    name: { type: 'string', column: 'name', byLanguage: true },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

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
