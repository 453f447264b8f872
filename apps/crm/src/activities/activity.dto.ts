import { ApiProperty } from '@nestjs/swagger';
import {
  IsInstant,
  IsUUID,
  MayBeAbsent,
  MayBeNull,
  PatchOf,
  SameAs,
  type FilterOp,
  type ListDefinition,
} from '@customer-platform/http';
import { IsIn, IsObject, IsString, MaxLength, MinLength } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';
import { ACTIVITY_STATUSES, type ActivityStatus, type Activity } from './activity.entity.js';
import type { Field } from '../fields/field.js';
import { shownValues } from '../fields/field-values.js';
import { RANGES } from '../range-ops.js';

/** What `POST /v1/crm/activities` takes. */
export class CreateActivityDto {
  @ApiProperty({
    description: 'A merged contact’s id is taken as its survivor’s.',
    example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
  })
  @IsUUID()
  contact_id: string;

  @ApiProperty({ example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e10' })
  @IsUUID()
  type_id: string;

  @ApiProperty({ example: 'Offer the yearly plan' })
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  subject: string;

  @ApiProperty({ description: 'Plain text, kept as sent; never HTML.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(10_000)
  description?: string | null;

  @MayBeAbsent()
  @MayBeNull()
  @IsInstant()
  due_at?: string | null;

  @ApiProperty({ description: 'A user who is a member of the organization.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsUUID()
  assignee_id?: string | null;

  @ApiProperty({ default: 'open' })
  @MayBeAbsent()
  @IsIn(ACTIVITY_STATUSES)
  status?: ActivityStatus;

  @ApiProperty({ description: 'The key of one of the type’s outcomes; of completed activities only.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(40)
  outcome?: string | null;

  @ApiProperty({ default: {}, description: 'By the key of the type’s fields.' })
  @MayBeAbsent()
  @IsObject()
  values?: Record<string, unknown>;
}

/** What `PATCH /v1/crm/activities/{id}` takes: JSON merge, member by member in `values`. */
export class UpdateActivityDto extends PatchOf(CreateActivityDto, { immutable: ['contact_id', 'type_id'] }) {}

/** An activity as it is answered. */
export class ActivityDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @ApiProperty({ format: 'uuid' }) type_id: string;
  @SameAs(CreateActivityDto) subject: string;
  @SameAs(CreateActivityDto) description: string | null;
  @SameAs(CreateActivityDto) due_at: string | null;
  @SameAs(CreateActivityDto) assignee_id: string | null;
  @SameAs(CreateActivityDto) status: string;
  @SameAs(CreateActivityDto) outcome: string | null;
  @SameAs(CreateActivityDto, {
    description: 'Every field of the type that is not archived; null where it has none.',
  })
  values: Record<string, unknown>;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) completed_at: string | null;
  @ApiProperty({ type: AuthorDto }) author: AuthorDto;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}

const ONE_OF: readonly FilterOp[] = ['eq', 'in', 'is_null'];
const DATES: readonly FilterOp[] = [...RANGES, 'is_null'];

/** `GET /v1/crm/activities` (crm.md §2). */
export const ACTIVITIES_LIST: ListDefinition = {
  resource: 'crm.activities',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ONE_OF,
      description: 'A merged contact’s id means its survivor’s.',
    },
    type_id: { type: 'uuid', column: 'type_id', ops: ONE_OF },
    status: { type: 'enum', column: 'status', values: ACTIVITY_STATUSES, ops: ONE_OF },
    assignee_id: { type: 'uuid', column: 'assignee_id', ops: ONE_OF },
    outcome: { type: 'string', column: 'outcome', ops: ONE_OF },
    due_at: { type: 'time', column: 'due_at', ops: DATES },
    completed_at: { type: 'time', column: 'completed_at', ops: DATES },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    due_at: { type: 'time', column: 'due_at', nulls: 'last' },
    completed_at: { type: 'time', column: 'completed_at', nulls: 'last' },
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

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
