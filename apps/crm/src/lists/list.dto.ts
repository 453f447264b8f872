import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull } from '@customer-platform/http';
import { IsString, MaxLength, MinLength } from 'class-validator';

const NAME = {
  minLength: 1,
  maxLength: 100,
  description: 'Unique among active lists, ignoring case.',
  example: 'Invited to the opening',
} as const;
const DESCRIPTION = { type: 'string', nullable: true, maxLength: 1_000 } as const;

/** What `POST /v1/crm/lists` takes. */
export class CreateListDto {
  @ApiProperty(NAME)
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name: string;

  @ApiProperty({ ...DESCRIPTION, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(1_000)
  description?: string | null;
}

/** What `PATCH /v1/crm/lists/{id}` takes: JSON merge. */
export class UpdateListDto {
  @ApiProperty({ ...NAME, required: false })
  @MayBeAbsent()
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name?: string;

  @ApiProperty({ ...DESCRIPTION, required: false })
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(1_000)
  description?: string | null;
}

/** A list as it is answered. */
export class ListDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty(NAME) name: string;
  @ApiProperty(DESCRIPTION) description: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100_000 }) member_count: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
