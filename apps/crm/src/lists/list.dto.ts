import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, MayBeNull, PatchOf, SameAs } from '@customer-platform/http';
import { IsString, MaxLength, MinLength } from 'class-validator';

/** What `POST /v1/crm/lists` takes. */
export class CreateListDto {
  @ApiProperty({
    description: 'Unique among active lists, ignoring case.',
    example: 'Invited to the opening',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name: string;

  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MaxLength(1_000)
  description?: string | null;
}

/** What `PATCH /v1/crm/lists/{id}` takes: JSON merge. */
export class UpdateListDto extends PatchOf(CreateListDto) {}

/** A list as it is answered. */
export class ListDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @SameAs(CreateListDto) name: string;
  @SameAs(CreateListDto) description: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100_000 }) member_count: number;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
