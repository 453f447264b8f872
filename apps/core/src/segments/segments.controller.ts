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
  mapPage,
  PurgeEndpoint,
  Query,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ExplainQueryDto, ExplanationDto } from './explaining/explain.dto.js';
import { PreviewRuleDto, RulePreviewDto } from './previewing/preview.dto.js';
import { RulePreview } from './previewing/rule-preview.service.js';
import {
  CreateSegmentDto,
  SegmentDto,
  SegmentMemberDto,
  UpdateSegmentDto,
  MEMBER_LIST,
  SEGMENT_LIST,
  toSegmentDto,
} from './segment.dto.js';
import { SegmentsService } from './segments.service.js';

@Controller('v1/core/segments')
export class SegmentsController {
  constructor(
    private readonly segments: SegmentsService,
    private readonly previews: RulePreview,
  ) {}

  @CreateEndpoint({
    permission: 'core.segments.create',
    summary: 'Create a segment',
    description:
      'It is `building` until its rule has been applied to all contacts. A rule needs the permissions that read what its ' +
      'leaves look at.',
    response: SegmentDto,
    problems: ['invalid_segment_rule', 'duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateSegmentDto): Promise<Answer> {
    return Answer.newResource(toSegmentDto(await this.segments.create(context, body)), '/v1/core/segments');
  }

  @ListEndpoint({ permission: 'core.segments.read', summary: 'List segments', response: SegmentDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(SEGMENT_LIST) query: ListQuery,
  ): Promise<Page<SegmentDto>> {
    return mapPage(await this.segments.list(context, query), toSegmentDto);
  }

  @GetEndpoint({ permission: 'core.segments.read', summary: 'Read a segment', response: SegmentDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toSegmentDto(await this.segments.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'core.segments.update',
    summary: 'Change a segment',
    description:
      'A rule replaces the whole rule, makes a new version, and is applied to all contacts. Another one needs the ' +
      'permissions that read what its leaves look at.',
    response: SegmentDto,
    problems: ['invalid_segment_rule', 'duplicate_value'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateSegmentDto,
  ): Promise<Answer> {
    return Answer.resource(toSegmentDto(await this.segments.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'core.segments.delete',
    summary: 'Soft-delete a segment',
    description: 'Its members stay as they are, and are not followed any more.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.segments.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'core.segments.delete',
    summary: 'Restore a segment',
    response: SegmentDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toSegmentDto(await this.segments.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'core.segments.purge',
    summary: 'Purge a segment with its members’ history',
    description: '409 while a campaign is aimed at it.',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.segments.purge(context, id);
  }

  @ListEndpoint({
    permission: 'core.segments.read',
    path: ':id/members',
    summary: 'List who is or was in a segment',
    response: SegmentMemberDto,
    problems: ['not_found'],
  })
  members(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(MEMBER_LIST) query: ListQuery,
  ): Promise<Page<SegmentMemberDto>> {
    return this.segments.members(context, id, query);
  }

  @Endpoint({
    method: 'POST',
    path: 'preview',
    permission: 'core.segments.read',
    summary: 'Count the contacts that a rule holds of, before it is saved',
    description:
      'Up to 10,000 contacts are all looked at, and of more those that can match where few can; else the count is ' +
      'estimated from some picked at random. It takes two seconds at most, and few are worked on at once: `429` says ' +
      'when to come back. Conditions on attributes need `core.contacts.read`, on consents `core.consents.read`, and on ' +
      'events `core.events.read`.',
    success: 200,
    idempotency: 'none',
    response: RulePreviewDto,
    problems: ['invalid_segment_rule', 'dependency_unavailable'],
  })
  preview(@Context() context: RequestContext, @Body() body: PreviewRuleDto): Promise<RulePreviewDto> {
    return this.previews.preview(context, body.rule);
  }

  @Endpoint({
    method: 'GET',
    path: ':id/explain',
    permission: 'core.segments.read',
    summary: 'Say why a contact is in a segment, or is not',
    description: 'It takes two seconds at most, and few are worked on at once, with those of `preview`.',
    response: ExplanationDto,
    problems: ['invalid_id', 'not_found', 'dependency_unavailable'],
  })
  explain(
    @Context() context: RequestContext,
    @Id() id: string,
    @Query() query: ExplainQueryDto,
  ): Promise<ExplanationDto> {
    return this.segments.explain(context, id, query.contact_id);
  }
}
