import type { NoteDto } from './note.dto.js';
import type { Note } from './note.entity.js';

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
