import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  mapPage,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { CreateNoteDto, NoteDto, UpdateNoteDto, NOTES_LIST, toNoteDto } from './note.dto.js';
import { NotesService } from './notes.service.js';

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
    return Answer.newResource(toNoteDto(await this.notes.create(context, body)), '/v1/crm/notes');
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
    return mapPage(await this.notes.list(context, query), toNoteDto);
  }

  @GetEndpoint({ permission: 'crm.notes.read', summary: 'Read a note', response: NoteDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toNoteDto(await this.notes.get(context, id)));
  }

  @UpdateEndpoint({ permission: 'crm.notes.update', summary: 'Change a note', response: NoteDto })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateNoteDto,
  ): Promise<Answer> {
    return Answer.resource(toNoteDto(await this.notes.update(context, id, body)));
  }

  @SoftDeleteEndpoint({ permission: 'crm.notes.delete', summary: 'Soft-delete a note' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.notes.softDelete(context, id);
  }

  @RestoreEndpoint({ permission: 'crm.notes.delete', summary: 'Restore a note', response: NoteDto })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toNoteDto(await this.notes.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'crm.notes.purge', summary: 'Purge a soft-deleted note' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.notes.purge(context, id);
  }
}
