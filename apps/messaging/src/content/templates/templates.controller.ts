import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  CreateEndpoint,
  Endpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  type ListQuery,
  type Page,
  PurgeEndpoint,
  Query,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import { CreateTemplateDto, TemplateDto, UpdateTemplateDto, toTemplateDto } from './template.dto.js';
import type { TemplateEntity } from './template.entity.js';
import { TEMPLATES_LIST, VERSIONS_LIST } from './template.list.js';
import { TemplateHistory } from './template-history.service.js';
import {
  TemplateDiffDto,
  TemplateDiffQueryDto,
  TemplateQueryDto,
  TemplateVersionDto,
} from './template-version.dto.js';
import { TemplatesService } from './templates.service.js';

@Controller('v1/messaging/templates')
export class TemplatesController {
  constructor(
    private readonly templates: TemplatesService,
    private readonly history: TemplateHistory,
  ) {}

  @CreateEndpoint({
    permission: 'messaging.templates.create',
    summary: 'Create a template',
    response: TemplateDto,
    problems: ['duplicate_value', 'template_invalid'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateTemplateDto): Promise<Answer> {
    const row = await this.templates.create(context, body);
    return Answer.newResource(await this.shown(context, row), '/v1/messaging/templates');
  }

  @ListEndpoint({ permission: 'messaging.templates.read', summary: 'List templates', response: TemplateDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(TEMPLATES_LIST) query: ListQuery,
  ): Promise<Page<TemplateDto>> {
    const { data, page } = await this.templates.list(context, query);
    const uses = await this.templates.uses(context, data);
    return { data: data.map((row) => toTemplateDto(row, uses.get(row.id) ?? [])), page };
  }

  @GetEndpoint({
    permission: 'messaging.templates.read',
    summary: 'Read a template',
    description: 'With its newest content, or that of `version`.',
    response: TemplateDto,
  })
  async get(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: TemplateQueryDto,
  ): Promise<Answer> {
    return this.tagged(
      context,
      await this.history.get(context, id, query.version === undefined ? undefined : Number(query.version)),
    );
  }

  @ListEndpoint({
    permission: 'messaging.templates.read',
    path: ':id/versions',
    summary: 'List the versions of a template, newest first',
    response: TemplateVersionDto,
    problems: ['not_found'],
  })
  versions(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(VERSIONS_LIST) query: ListQuery,
  ): Promise<Page<TemplateVersionDto>> {
    return this.history.list(context, id, query);
  }

  @Endpoint({
    method: 'GET',
    path: ':id/diff',
    permission: 'messaging.templates.read',
    summary: 'Say what differs between two versions of a template',
    response: TemplateDiffDto,
    problems: ['invalid_id', 'not_found'],
  })
  diff(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: TemplateDiffQueryDto,
  ): Promise<TemplateDiffDto> {
    return this.history.diff(context, id, Number(query.from), Number(query.to));
  }

  @UpdateEndpoint({
    permission: 'messaging.templates.update',
    summary: 'Change a template',
    description:
      'A change of the content makes an immutable version, sent at once unless `publish` is false. `published_version` ' +
      'says which one is sent, `revert_to` writes an earlier one anew. What rules send takes the permissions that read ' +
      'what these carry.',
    response: TemplateDto,
    problems: ['duplicate_value', 'template_invalid', 'privilege_escalation'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateTemplateDto,
  ): Promise<Answer> {
    return this.tagged(context, await this.templates.update(context, id, body));
  }

  @SoftDeleteEndpoint({ permission: 'messaging.templates.delete', summary: 'Soft-delete a template' })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.templates.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'messaging.templates.delete',
    summary: 'Restore a template',
    response: TemplateDto,
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.tagged(context, await this.templates.restore(context, id));
  }

  @PurgeEndpoint({
    permission: 'messaging.templates.purge',
    summary: 'Purge a template that no rule, campaign, unfinished send and other template uses',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.templates.purge(context, id);
  }

  private async tagged(context: RequestContext, row: TemplateEntity): Promise<Answer> {
    return Answer.resource(await this.shown(context, row));
  }

  private async shown(context: RequestContext, row: TemplateEntity): Promise<TemplateDto> {
    const uses = await this.templates.uses(context, [row]);
    return toTemplateDto(row, uses.get(row.id) ?? []);
  }
}
