import type { SoftDeletable, ResourceChange } from '@customer-platform/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('notes')
export class Note implements SoftDeletable {
  @PrimaryColumn('uuid') organizationId: string;
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') contactId: string;
  @Column('uuid') originContactId: string;
  @Column('text') body: string;
  @Column('boolean') pinned: boolean;
  @Column('text') authorType: string;
  @Column('text') authorId: string;
  @Column('timestamptz') createdAt: Date;
  @Column('timestamptz') updatedAt: Date;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}

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
