import { ApiProperty } from '@nestjs/swagger';
import { IsImmutable, MayBeAbsent } from '@customer-platform/http';
import { IsArray, IsBoolean, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { FIELD_SCHEMA } from '../fields/field.dto.js';
import { LONGEST_LABEL } from '../fields/refusals.js';
import { MOST_OUTCOMES } from './outcome.js';

const KEY_PATTERN = '^[a-z][a-z0-9_]{1,39}$';
const KEY = { type: 'string', pattern: KEY_PATTERN, example: 'site_visit' } as const;
const NAME = { type: 'string', minLength: 1, maxLength: 60, example: 'Site visit' } as const;
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
const OUTCOME_REQUIRED = {
  type: 'boolean',
  description: 'Whether an activity of this type can be completed only with an outcome.',
} as const;
const FIELDS = {
  type: 'array' as const,
  maxItems: 30,
  items: FIELD_SCHEMA,
  description: 'What `values` of the activities hold.',
  example: [{ key: 'minutes', label: 'Minutes', type: 'integer', min: 0, max: 600 }],
};

/** What `POST /v1/crm/activity-types` takes. */
export class CreateActivityTypeDto {
  @ApiProperty(KEY)
  @IsString()
  @Matches(new RegExp(KEY_PATTERN))
  key: string;

  @ApiProperty(NAME)
  @IsString()
  @MinLength(1)
  @MaxLength(60)
  name: string;

  @ApiProperty({ ...OUTCOMES, required: false, default: [] })
  @MayBeAbsent()
  @IsArray()
  outcomes?: unknown[];

  @ApiProperty({ ...OUTCOME_REQUIRED, required: false, default: false })
  @MayBeAbsent()
  @IsBoolean()
  outcome_required?: boolean;

  @ApiProperty({ ...FIELDS, required: false, default: [] })
  @MayBeAbsent()
  @IsArray()
  fields?: unknown[];
}

/** What `PATCH /v1/crm/activity-types/{id}` takes: JSON merge; lists are given whole. */
export class UpdateActivityTypeDto {
  @IsImmutable()
  key?: unknown;

  @ApiProperty({ ...NAME, required: false })
  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(60)
  name?: string;

  @ApiProperty({ ...OUTCOMES, required: false })
  @MayBeAbsent()
  @IsArray()
  outcomes?: unknown[];

  @ApiProperty({ ...OUTCOME_REQUIRED, required: false })
  @MayBeAbsent()
  @IsBoolean()
  outcome_required?: boolean;

  @ApiProperty({ ...FIELDS, required: false })
  @MayBeAbsent()
  @IsArray()
  fields?: unknown[];
}

/** An activity type as it is answered. */
export class ActivityTypeDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty(KEY) key: string;
  @ApiProperty(NAME) name: string;
  @ApiProperty(OUTCOMES) outcomes: readonly object[];
  @ApiProperty(OUTCOME_REQUIRED) outcome_required: boolean;
  @ApiProperty(FIELDS) fields: readonly object[];
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
