import type { IncomingMessage } from 'node:http';
import { Controller, Req } from '@nestjs/common';
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
import {
  CreateObjectDefinitionDto,
  ObjectDefinitionDto,
  UpdateObjectDefinitionDto,
} from './object-definition.dto.js';
import { OBJECT_DEFINITIONS_LIST } from './object-definitions.list.js';
import { ObjectDefinitionsService } from './object-definitions.service.js';
import { recordSchemaOf, SCHEMA_TYPE, wantsSchema } from './record-schema.js';
import { toObjectDefinitionDto, type ShownDefinition } from './to-object-definition-dto.js';

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
    const shown = await this.definitions.create(context, body);
    const location = `/v1/crm/object-definitions/${shown.definition.id}`;
    return Answer.created(toObjectDefinitionDto(shown), location, { ETag: versionTag(shown.definition) });
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
    const { data, page } = await this.definitions.list(context, query);
    return { data: data.map(toObjectDefinitionDto), page };
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
    if (!wantsSchema(request.headers.accept)) return tagged(shown);
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
    return tagged(await this.definitions.update(context, id, body));
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
    return tagged(await this.definitions.restore(context, id));
  }

  @PurgeEndpoint({
    permission: 'crm.objects.purge',
    summary: 'Purge a soft-deleted definition of a custom object',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.definitions.purge(context, id);
  }
}

const tagged = (shown: ShownDefinition): Answer =>
  Answer.tagged(toObjectDefinitionDto(shown), versionTag(shown.definition));
