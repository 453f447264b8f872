import { ApiProperty } from '@nestjs/swagger';
import { IsImmutable, IsInstant, MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsIn, IsObject, IsString, IsUUID, MaxLength, MinLength } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';
import { ACTIVITY_STATUSES, type ActivityStatus } from './activity.entity.js';

const SUBJECT = { minLength: 1, maxLength: 200, example: 'Offer the yearly plan' } as const;
const DESCRIPTION = {
  type: 'string',
  nullable: true,
  maxLength: 10_000,
  description: 'Plain text, kept as sent; never HTML.',
} as const;
const DUE_AT = { type: 'string', nullable: true, format: 'date-time' } as const;
const ASSIGNEE = {
  type: 'string',
  nullable: true,
  format: 'uuid',
  description: 'A user who is a member of the organization.',
} as const;
const STATUS = { enum: [...ACTIVITY_STATUSES] };
const OUTCOME = {
  type: 'string',
  nullable: true,
  maxLength: 40,
  description: 'The key of one of the type’s outcomes; of completed activities only.',
} as const;
const VALUES = {
  type: 'object',
  additionalProperties: true,
  description: 'By the key of the type’s fields.',
} as const;

/** What `POST /v1/crm/activities` takes. */
export class CreateActivityDto {
  @ApiProperty({
    format: 'uuid',
    description: 'A merged contact’s id is taken as its survivor’s.',
    example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
  })
  @IsUUID()
  contact_id: string;

  @ApiProperty({ format: 'uuid', example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10' })
  @IsUUID()
  type_id: string;

  @ApiProperty(SUBJECT)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  subject: string;

  @ApiProperty({ ...DESCRIPTION, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(10_000)
  description?: string | null;

  @ApiProperty({ ...DUE_AT, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  due_at?: string | null;

  @ApiProperty({ ...ASSIGNEE, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsUUID()
  assignee_id?: string | null;

  @ApiProperty({ ...STATUS, required: false, default: 'open' })
  @MayBeAbsent()
  @IsIn(ACTIVITY_STATUSES)
  status?: ActivityStatus;

  @ApiProperty({ ...OUTCOME, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(40)
  outcome?: string | null;

  @ApiProperty({ ...VALUES, selfRequired: false, default: {} })
  @MayBeAbsent()
  @IsObject()
  values?: Record<string, unknown>;
}

/** What `PATCH /v1/crm/activities/{id}` takes: JSON merge, member by member in `values`. */
export class UpdateActivityDto {
  @IsImmutable()
  contact_id?: unknown;

  @IsImmutable()
  type_id?: unknown;

  @ApiProperty({ ...SUBJECT, required: false })
  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  subject?: string;

  @ApiProperty({ ...DESCRIPTION, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(10_000)
  description?: string | null;

  @ApiProperty({ ...DUE_AT, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  due_at?: string | null;

  @ApiProperty({ ...ASSIGNEE, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsUUID()
  assignee_id?: string | null;

  @ApiProperty({ ...STATUS, required: false })
  @MayBeAbsent()
  @IsIn(ACTIVITY_STATUSES)
  status?: ActivityStatus;

  @ApiProperty({ ...OUTCOME, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(40)
  outcome?: string | null;

  @ApiProperty({ ...VALUES, selfRequired: false })
  @MayBeAbsent()
  @IsObject()
  values?: Record<string, unknown>;
}

/** An activity as it is answered. */
export class ActivityDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ format: 'uuid' }) type_id: string;
  @ApiProperty(SUBJECT) subject: string;
  @ApiProperty(DESCRIPTION) description: string | null;
  @ApiProperty(DUE_AT) due_at: string | null;
  @ApiProperty(ASSIGNEE) assignee_id: string | null;
  @ApiProperty(STATUS) status: string;
  @ApiProperty(OUTCOME) outcome: string | null;
  @ApiProperty({
    ...VALUES,
    description: 'Every field of the type that is not archived; null where it has none.',
  })
  values: Record<string, unknown>;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) completed_at: string | null;
  @ApiProperty({ type: AuthorDto }) author: AuthorDto;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
