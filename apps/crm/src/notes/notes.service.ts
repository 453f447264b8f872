import { Injectable } from '@nestjs/common';
import { ContactReferences, ContactRowsRegistry, contactTable } from '@customer-platform/contact-refs';
import { ResourceStores, type ReferenceSource, type ResourceStore } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import type { CreateNoteDto, UpdateNoteDto } from './note.dto.js';
import { Note, noteEvent } from './note.entity.js';

/** What core is told before it purges a contact. */
export const NOTES_ON_CONTACTS: ReferenceSource = {
  to: 'core.contacts',
  resource: 'notes',
  count: 'SELECT count(*)::int AS count FROM notes WHERE organization_id = $1 AND contact_id = $2',
};

/** What people write down about contacts (crm.md §2). No note is private: the permission to read decides. */
@Injectable()
export class NotesService {
  private readonly notes: ResourceStore<Note>;

  constructor(
    private readonly contacts: ContactReferences,
    contactRows: ContactRowsRegistry,
    stores: ResourceStores,
  ) {
    contactRows.add(contactTable('notes', { shown: true }));
    this.notes = stores.of<Note>({
      entity: Note,
      module: 'crm',
      resource: 'notes',
      bookkeeping: ['originContactId', 'authorType', 'authorId'],
      event: noteEvent,
    });
  }

  /** @throws Problem `dependency_unavailable` when core must be asked who a filter's contact is and is silent */
  async list(context: RequestContext, query: ListQuery): Promise<Page<Note>> {
    return this.notes.page(context, await this.contacts.resolveFilters(context.organizationId, query));
  }

  /** @throws Problem `reference_not_found`, `reference_deleted`, `dependency_unavailable` */
  create(context: RequestContext, body: CreateNoteDto): Promise<Note> {
    const reference = { id: body.contact_id, pointer: '/contact_id' };
    return this.contacts.refer(context.organizationId, reference, (tx, contactId) =>
      this.notes.create(
        context,
        {
          contactId,
          originContactId: contactId,
          body: body.body,
          pinned: body.pinned ?? false,
          authorType: context.principal.type,
          authorId: context.principal.id,
        },
        { tx },
      ),
    );
  }

  get(context: RequestContext, id: string): Promise<Note> {
    return this.notes.get(context, id);
  }

  /** Also on a soft-deleted contact. @throws Problem `resource_deleted`, `etag_mismatch` */
  update(context: RequestContext, id: string, { body, pinned }: UpdateNoteDto): Promise<Note> {
    return this.notes.update(context, id, { body, pinned });
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.notes.softDelete(context, id);
  }

  restore(context: RequestContext, id: string): Promise<Note> {
    return this.notes.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.notes.purge(context, id);
  }
}
