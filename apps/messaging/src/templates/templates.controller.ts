import { Controller } from '@nestjs/common';
import { versionTag } from '@customer-platform/database';
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
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import {
  CreateTemplateDto,
  PreviewDto,
  PreviewResultDto,
  TemplateDto,
  UpdateTemplateDto,
} from './template.dto.js';
import type { TemplateEntity } from './template.entity.js';
import { TEMPLATES_LIST } from './template.list.js';
import { TemplatePreview } from './template-preview.service.js';
import { TemplatesService } from './templates.service.js';
import { toTemplateDto } from './to-template-dto.js';

@Controller('v1/messaging/templates')
export class TemplatesController {
  constructor(
    private readonly templates: TemplatesService,
    private readonly previews: TemplatePreview,
  ) {}

  @CreateEndpoint({
    permission: 'messaging.templates.create',
    summary: 'Create a template',
    response: TemplateDto,
    problems: ['duplicate_value', 'template_invalid'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateTemplateDto): Promise<Answer> {
    const row = await this.templates.create(context, body);
    return Answer.created(toTemplateDto(row), `/v1/messaging/templates/${row.id}`, { ETag: versionTag(row) });
  }

  @ListEndpoint({ permission: 'messaging.templates.read', summary: 'List templates', response: TemplateDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(TEMPLATES_LIST) query: ListQuery,
  ): Promise<Page<TemplateDto>> {
    const { data, page } = await this.templates.list(context, query);
    return { data: data.map(toTemplateDto), page };
  }

  @GetEndpoint({ permission: 'messaging.templates.read', summary: 'Read a template', response: TemplateDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return tagged(await this.templates.get(context, id));
  }

  @UpdateEndpoint({
    permission: 'messaging.templates.update',
    summary: 'Change a template',
    description: 'A change of the content makes an immutable version; `published_version` rolls back.',
    response: TemplateDto,
    problems: ['duplicate_value', 'template_invalid'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateTemplateDto,
  ): Promise<Answer> {
    return tagged(await this.templates.update(context, id, body));
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
    return tagged(await this.templates.restore(context, id));
  }

  @PurgeEndpoint({
    permission: 'messaging.templates.purge',
    summary: 'Purge a template that no rule and no unfinished send uses',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.templates.purge(context, id);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/preview',
    permission: 'messaging.templates.read',
    summary: 'Render a template as it would be sent',
    success: 200,
    idempotency: 'none',
    response: PreviewResultDto,
    problems: ['render_failed', 'render_limit_exceeded', 'reference_not_found'],
  })
  preview(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: PreviewDto,
  ): Promise<PreviewResultDto> {
    return this.previews.preview(context, id, body);
  }
}

const tagged = (row: TemplateEntity): Answer => Answer.tagged(toTemplateDto(row), versionTag(row));
