import { ApiProperty } from '@nestjs/swagger';
import { IsUUID, MayBeAbsent, PatchOf, SameAs, type ListDefinition } from '@customer-platform/http';
import { IsBoolean, IsString, MaxLength, MinLength } from 'class-validator';
import { AuthorDto } from '../authors/author.dto.js';
import type { Note } from './note.entity.js';
import { RANGES } from '../range-ops.js';

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

/** `GET /v1/crm/notes` (crm.md §2). */
export const NOTES_LIST: ListDefinition = {
  resource: 'crm.notes',
  filters: {
    contact_id: {
      type: 'uuid',
      column: 'contact_id',
      ops: ['eq', 'in'],
      description: 'A merged contact’s id means its survivor’s.',
    },
    author_id: { type: 'string', column: 'author_id', ops: ['eq'] },
    pinned: { type: 'boolean', column: 'pinned', ops: ['eq'] },
    created_at: { type: 'time', column: 'created_at', ops: RANGES },
    updated_at: { type: 'time', column: 'updated_at', ops: RANGES },
  },
  sorts: {
    created_at: { type: 'time', column: 'created_at' },
    updated_at: { type: 'time', column: 'updated_at' },
  },
  defaultSort: '-created_at',
  includeDeleted: true,
};

/** A note as the API answers it. */
export function toNoteDto(note: Note): NoteDto {
  return {
    id: note.id,
    contact_id: note.contactId,
    body: note.body,
    pinned: note.pinned,
    author: { type: note.authorType, id: note.authorId },
    created_at: note.createdAt.toISOString(),
    updated_at: note.updatedAt.toISOString(),
    deleted_at: note.deletedAt?.toISOString() ?? null,
  };
}
