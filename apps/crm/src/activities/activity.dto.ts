import { ApiProperty } from '@nestjs/swagger';
import { IsInstant, MayBeAbsent, MayBeNull, PatchOf, SameAs } from '@customer-platform/http';
import { IsIn, IsObject, IsString, IsUUID, MaxLength, MinLength } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';
import { ACTIVITY_STATUSES, type ActivityStatus } from './activity.entity.js';

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
