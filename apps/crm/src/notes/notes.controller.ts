import { Controller } from '@nestjs/common';
import { versionTag } from '@customer-platform/database';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { CreateNoteDto, NoteDto, UpdateNoteDto } from './note.dto.js';
import type { Note } from './note.entity.js';
import { NOTES_LIST } from './notes.list.js';
import { NotesService } from './notes.service.js';
import { toNoteDto } from './to-note-dto.js';

@Controller('v1/crm/notes')
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @CreateEndpoint({
    permission: 'crm.notes.create',
    summary: 'Write a note on a contact',
    response: NoteDto,
    problems: ['reference_not_found', 'reference_deleted', 'dependency_unavailable'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateNoteDto): Promise<Answer> {
    const note = await this.notes.create(context, body);
    return Answer.created(toNoteDto(note), `/v1/crm/notes/${note.id}`, { ETag: versionTag(note) });
  }

  @ListEndpoint({
    permission: 'crm.notes.read',
    summary: 'List notes',
    response: NoteDto,
    problems: ['dependency_unavailable'],
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(NOTES_LIST) query: ListQuery,
  ): Promise<Page<NoteDto>> {
    const { data, page } = await this.notes.list(context, query);
    return { data: data.map(toNoteDto), page };
  }

  @GetEndpoint({ permission: 'crm.notes.read', summary: 'Read a note', response: NoteDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.notes.get(context, id));
  }

  @UpdateEndpoint({ permission: 'crm.notes.update', summary: 'Change a note', response: NoteDto })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateNoteDto,
  ): Promise<Answer> {
    return tagged(await this.notes.update(context, id, body));
  }

  @SoftDeleteEndpoint({ permission: 'crm.notes.delete', summary: 'Soft-delete a note' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.notes.softDelete(context, id);
  }

  @RestoreEndpoint({ permission: 'crm.notes.delete', summary: 'Restore a note', response: NoteDto })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.notes.restore(context, id));
  }

  @PurgeEndpoint({ permission: 'crm.notes.purge', summary: 'Purge a soft-deleted note' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.notes.purge(context, id);
  }
}

const tagged = (note: Note): Answer => Answer.tagged(toNoteDto(note), versionTag(note));
