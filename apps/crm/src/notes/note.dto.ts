import { ApiProperty } from '@nestjs/swagger';
import { MayBeAbsent, PatchOf, SameAs } from '@customer-platform/http';
import { IsBoolean, IsString, IsUUID, MaxLength, MinLength } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';

/** What `POST /v1/crm/notes` takes. */
export class CreateNoteDto {
  @ApiProperty({
    description: 'A merged contact’s id is taken as its survivor’s.',
    example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f',
  })
  @IsUUID()
  contact_id: string;

  @ApiProperty({
    description: 'Plain text, kept as sent; never HTML.',
    example: 'Prefers to be called after 18:00.',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(10_000)
  body: string;

  @ApiProperty({ default: false })
  @MayBeAbsent()
  @IsBoolean()
  pinned?: boolean;
}

/** What `PATCH /v1/crm/notes/{id}` takes: JSON merge. */
export class UpdateNoteDto extends PatchOf(CreateNoteDto, { immutable: ['contact_id'] }) {}

/** A note as it is answered. */
export class NoteDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ format: 'uuid' }) contact_id: string;
  @SameAs(CreateNoteDto) body: string;
  @ApiProperty() pinned: boolean;
  @ApiProperty({ type: AuthorDto }) author: AuthorDto;
  @ApiProperty({ format: 'date-time' }) created_at: string;
  @ApiProperty({ format: 'date-time' }) updated_at: string;
  @ApiProperty({ nullable: true, type: 'string', format: 'date-time' }) deleted_at: string | null;
}
