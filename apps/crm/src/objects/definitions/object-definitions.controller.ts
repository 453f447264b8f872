import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
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
import {
  CreateObjectDefinitionDto,
  ObjectDefinitionDto,
  UpdateObjectDefinitionDto,
  OBJECT_DEFINITIONS_LIST,
  toObjectDefinitionDto,
} from './object-definition.dto.js';
import { ObjectDefinitionsService } from './object-definitions.service.js';
import { recordSchemaOf, SCHEMA_TYPE, wantsSchema } from './record-schema.js';

@Controller('v1/crm/object-definitions')
export class ObjectDefinitionsController {
  constructor(private readonly definitions: ObjectDefinitionsService) {}

  @CreateEndpoint({
    permission: 'crm.objects.create',
    summary: 'Define a custom object',
    response: ObjectDefinitionDto,
    problems: ['duplicate_value', 'limit_reached', 'reference_not_found', 'reference_deleted'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateObjectDefinitionDto): Promise<Answer> {
    return Answer.newResource(
      toObjectDefinitionDto(await this.definitions.create(context, body)),
      '/v1/crm/object-definitions',
    );
  }

  @ListEndpoint({
    permission: 'crm.objects.read',
    summary: 'List definitions of custom objects',
    response: ObjectDefinitionDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(OBJECT_DEFINITIONS_LIST) query: ListQuery,
  ): Promise<Page<ObjectDefinitionDto>> {
    return mapPage(await this.definitions.list(context, query), toObjectDefinitionDto);
  }

  @GetEndpoint({
    permission: 'crm.objects.read',
    summary: 'Read a definition of a custom object',
    description: `With \`Accept: ${SCHEMA_TYPE}\` the JSON Schema of what creates a record.`,
    response: ObjectDefinitionDto,
    download: SCHEMA_TYPE,
  })
  async get(
    @Context() context: RequestContext,
    @Id() id: string,
    @Req() request: IncomingMessage,
  ): Promise<Answer> {
    const shown = await this.definitions.get(context, id);
    if (!wantsSchema(request.headers.accept)) return Answer.resource(toObjectDefinitionDto(shown));
    const headers = { 'Content-Type': SCHEMA_TYPE, Vary: 'Accept' };
    return new Answer(recordSchemaOf(shown.definition), headers);
  }

  @UpdateEndpoint({
    permission: 'crm.objects.update',
    summary: 'Change a definition of a custom object',
    description:
      'An index over records that there are is built behind the answer: `index_state` tells when lists can use it.',
    response: ObjectDefinitionDto,
    problems: ['field_in_use', 'records_incompatible', 'reference_not_found', 'reference_deleted'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateObjectDefinitionDto,
  ): Promise<Answer> {
    return Answer.resource(toObjectDefinitionDto(await this.definitions.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'crm.objects.delete',
    summary: 'Soft-delete a definition of a custom object',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.definitions.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'crm.objects.delete',
    summary: 'Restore a definition of a custom object',
    response: ObjectDefinitionDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toObjectDefinitionDto(await this.definitions.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'crm.objects.purge',
    summary: 'Purge a soft-deleted definition of a custom object',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.definitions.purge(context, id);
  }
}
