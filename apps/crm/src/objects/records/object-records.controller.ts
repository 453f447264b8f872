import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequestOf,
  mapPage,
  type ListReader,
  type Page,
  PathText,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import {
  CreateObjectRecordDto,
  ObjectRecordDto,
  UpdateObjectRecordDto,
  rowToObjectRecordDto,
  toObjectRecordDto,
} from './object-record.dto.js';
import { OBJECT_RECORDS_LIST } from './object-records.list.js';
import { ObjectRecordsService } from './object-records.service.js';

const VALUES = {
  name: 'values',
  pattern: '^values\\.[a-z][a-z0-9_]{1,39}(\\[(eq|in|prefix|gt|gte|lt|lte|is_null)\\])?$',
  description:
    'Filters by the definition’s indexed fields, each a parameter of its own: `values.year[gte]=2020`. `sort` takes one of them too: `-values.year`. Records without a value come last.',
};
const EXAMPLE = 'vehicle';
const WRITES = ['definition_deleted', 'dependency_unavailable'] as const;
const REFERS = ['duplicate_value', 'reference_not_found', 'reference_deleted'] as const;

@Controller('v1/crm/objects')
export class ObjectRecordsController {
  constructor(private readonly records: ObjectRecordsService) {}

  @CreateEndpoint({
    permission: 'crm.objects.create',
    summary: 'Create a record of a custom object',
    path: ':slug',
    response: ObjectRecordDto,
    problems: [...WRITES, ...REFERS],
  })
  async create(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Body() body: CreateObjectRecordDto,
  ): Promise<Answer> {
    return Answer.newResource(
      toObjectRecordDto(await this.records.create(context, slug, body.values)),
      `/v1/crm/objects/${encodeURIComponent(slug)}`,
    );
  }

  @ListEndpoint({
    permission: 'crm.objects.read',
    summary: 'List the records of a custom object',
    path: ':slug',
    response: ObjectRecordDto,
    problems: ['index_building', 'dependency_unavailable'],
  })
  async list(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @ListRequestOf(OBJECT_RECORDS_LIST, VALUES) read: ListReader,
  ): Promise<Page<ObjectRecordDto>> {
    const { definition, page } = await this.records.list(context, slug, read);
    return mapPage(page, (row) => rowToObjectRecordDto(definition, row));
  }

  @GetEndpoint({
    permission: 'crm.objects.read',
    summary: 'Read a record of a custom object',
    path: ':slug/:id',
    response: ObjectRecordDto,
  })
  async get(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Id() id: string,
  ): Promise<Answer> {
    return Answer.resource(toObjectRecordDto(await this.records.get(context, slug, id)));
  }

  @UpdateEndpoint({
    permission: 'crm.objects.update',
    summary: 'Change a record of a custom object',
    path: ':slug/:id',
    response: ObjectRecordDto,
    problems: [...WRITES, ...REFERS],
  })
  async update(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Id() id: string,
    @Body() body: UpdateObjectRecordDto,
  ): Promise<Answer> {
    return Answer.resource(toObjectRecordDto(await this.records.update(context, slug, id, body.values)));
  }

  @SoftDeleteEndpoint({
    permission: 'crm.objects.delete',
    summary: 'Soft-delete a record of a custom object',
    path: ':slug/:id',
  })
  softDelete(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Id() id: string,
  ): Promise<void> {
    return this.records.softDelete(context, slug, id);
  }

  @RestoreEndpoint({
    permission: 'crm.objects.delete',
    summary: 'Restore a record of a custom object',
    path: ':slug/:id/restore',
    response: ObjectRecordDto,
    problems: ['definition_deleted', 'records_incompatible'],
  })
  async restore(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Id() id: string,
  ): Promise<Answer> {
    return Answer.resource(toObjectRecordDto(await this.records.restore(context, slug, id)));
  }

  @PurgeEndpoint({
    permission: 'crm.objects.purge',
    summary: 'Purge a soft-deleted record of a custom object',
    path: ':slug/:id/purge',
  })
  purge(
    @Context() context: RequestContext,
    @PathText('slug', EXAMPLE) slug: string,
    @Id() id: string,
  ): Promise<void> {
    return this.records.purge(context, slug, id);
  }
}
