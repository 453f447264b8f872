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
  type ListQuery,
  type Page,
  PurgeEndpoint,
  type RequestContext,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from '@customer-platform/http';
import {
  CampaignDto,
  CreateCampaignDto,
  StartedRunDto,
  UpdateCampaignDto,
  CAMPAIGNS_LIST,
  toCampaignDto,
} from './campaign.dto.js';
import { CampaignCheckDto } from './check/campaign-check.dto.js';
import { CampaignCheck } from './check/campaign-check.js';
import { CampaignsService } from './campaigns.service.js';

const CONTENT = [
  'privilege_escalation',
  'reference_not_found',
  'reference_deleted',
  'channel_not_configured',
  'sender_domain_unverified',
  'template_invalid',
  'dependency_unavailable',
] as const;

@Controller('v1/messaging/campaigns')
export class CampaignsController {
  constructor(
    private readonly campaigns: CampaignsService,
    private readonly checks: CampaignCheck,
  ) {}

  @CreateEndpoint({
    permission: 'messaging.campaigns.create',
    summary: 'Create a campaign',
    description:
      'One message to everybody in a segment or on a list. Aiming at a segment needs `core.segments.read` too, at a ' +
      'list `crm.lists.read`, and what it says of them `core.contacts.read`. Nothing leaves until it is run.',
    response: CampaignDto,
    problems: [...CONTENT, 'duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateCampaignDto): Promise<Answer> {
    return Answer.newResource(
      toCampaignDto(await this.campaigns.create(context, body)),
      '/v1/messaging/campaigns',
    );
  }

  @ListEndpoint({ permission: 'messaging.campaigns.read', summary: 'List campaigns', response: CampaignDto })
  async list(
    @Context() context: RequestContext,
    @ListRequest(CAMPAIGNS_LIST) query: ListQuery,
  ): Promise<Page<CampaignDto>> {
    return mapPage(await this.campaigns.list(context, query), toCampaignDto);
  }

  @GetEndpoint({
    permission: 'messaging.campaigns.read',
    summary: 'Read a campaign',
    description: 'With its last run and how far that has come.',
    response: CampaignDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toCampaignDto(await this.campaigns.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'messaging.campaigns.update',
    summary: 'Change a campaign',
    description:
      'While it is under way only `paused` can be changed, and who answers for it. When it answers that the campaign rests, nothing of it leaves ' +
      'any more.',
    response: CampaignDto,
    problems: [...CONTENT, 'duplicate_value', 'invalid_state'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateCampaignDto,
  ): Promise<Answer> {
    return Answer.resource(toCampaignDto(await this.campaigns.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'messaging.campaigns.delete',
    summary: 'Soft-delete a campaign',
    description: 'What has not left of it is canceled.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.campaigns.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'messaging.campaigns.delete',
    summary: 'Restore a campaign',
    description: 'What its deletion canceled stays canceled.',
    response: CampaignDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toCampaignDto(await this.campaigns.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'messaging.campaigns.purge', summary: 'Purge a campaign' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.campaigns.purge(context, id);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/run',
    permission: 'messaging.campaigns.run',
    summary: 'Run a campaign',
    description:
      'Everybody who is in the audience now gets the template as it is published now. Again it answers the same run, ' +
      'unless the campaign is `repeatable` and completed. Needs the permission that reads the audience too.',
    success: 202,
    response: StartedRunDto,
    problems: [...CONTENT, 'invalid_id', 'not_found', 'resource_deleted', 'invalid_state', 'etag_mismatch'],
  })
  async run(@Context() context: RequestContext, @Id() id: string): Promise<StartedRunDto> {
    return { run_id: await this.campaigns.run(context, id) };
  }

  @Endpoint({
    method: 'POST',
    path: ':id/check',
    permission: 'messaging.campaigns.run',
    summary: 'Check a campaign before it is run',
    description:
      'How many of its audience would get the message now, how many not and why, and how it looks for one of them: by ' +
      'the same checks as a run, and nothing is sent. Counting ends after two seconds (`complete: false`). Needs the ' +
      'permission that reads the audience too; the message is shown to who has `core.contacts.read`.',
    success: 200,
    idempotency: 'none',
    response: CampaignCheckDto,
    problems: [
      'invalid_id',
      'not_found',
      'resource_deleted',
      'invalid_state',
      'reference_not_found',
      'reference_deleted',
      'channel_not_configured',
      'sender_domain_unverified',
      'template_invalid',
      'dependency_unavailable',
      'rate_limited',
    ],
  })
  check(@Context() context: RequestContext, @Id() id: string): Promise<CampaignCheckDto> {
    return this.checks.of(context, id);
  }
}
