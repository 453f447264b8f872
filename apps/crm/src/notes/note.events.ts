import type { ResourceChange } from '@customer-platform/database';
import type { Note } from './note.entity.js';

/** The fields of a change, by property; who wrote the note, and where first, is no news. */
const FIELDS: Readonly<Record<string, string>> = {
  contactId: 'contact_id',
  body: 'body',
  pinned: 'pinned',
  deletedAt: 'deleted_at',
};

/** `crm.note.*` (crm.md §6): the contact's id is the key, so that its history keeps its order. Never the text. */
export function noteEvent({ verb, row, changed }: ResourceChange<Note>) {
  return {
    type: `crm.note.${verb}.v1`,
    key: row.contactId,
    subject: `notes/${row.id}`,
    data: {
      id: row.id,
      contact_id: row.contactId,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
