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
  PurgeEndpoint,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import {
  CreatedOrganizationDto,
  CreateOrganizationDto,
  OrganizationDto,
  UpdateOrganizationDto,
} from './organization.dto.js';
import { ORGANIZATIONS_LIST } from './organizations.list.js';
import { OrganizationsService } from './organizations.service.js';
import { toOrganizationDto } from './to-organization-dto.js';

/** The caller's organization and those below it. */
@Controller('v1/identity/organizations')
export class OrganizationsController {
  constructor(private readonly organizations: OrganizationsService) {}

  @CreateEndpoint({
    permission: 'identity.organizations.create',
    summary: 'Found an organization below one’s own',
    description: 'With `issue_api_key` a first key of the machine role owner, shown in this answer only.',
    response: CreatedOrganizationDto,
    secretFields: ['api_key'],
    problems: ['duplicate_value', 'limit_reached', 'privilege_escalation'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateOrganizationDto): Promise<Answer> {
    const { apiKey, ...created } = await this.organizations.create(context, body);
    const answer: CreatedOrganizationDto = {
      ...toOrganizationDto(created),
      ...(apiKey ? { api_key: apiKey } : {}),
    };
    return Answer.newResource(answer, '/v1/identity/organizations');
  }

  @ListEndpoint({
    permission: 'identity.organizations.read',
    summary: 'List one’s own organization and those below it',
    response: OrganizationDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ORGANIZATIONS_LIST) query: ListQuery,
  ): Promise<Page<OrganizationDto>> {
    return mapPage(await this.organizations.list(context, query), toOrganizationDto);
  }

  @GetEndpoint({
    permission: 'identity.organizations.read',
    summary: 'Read an organization',
    response: OrganizationDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toOrganizationDto(await this.organizations.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'identity.organizations.update',
    summary: 'Change an organization',
    description:
      'Status and rate limits are set by organizations above it; within a second they hold everywhere. `member_jwks` is ' +
      'set by the organization itself, by who may exchange tenant tokens. `retention` is set by the organization itself, ' +
      'too: a period that is new or shorter takes `identity.organizations.purge`, 403 `permission_denied` otherwise. ' +
      'So is `sso_organizations`, and to add one takes all that `owner` holds.',
    response: OrganizationDto,
    problems: ['ancestor_required', 'privilege_escalation'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateOrganizationDto,
  ): Promise<Answer> {
    return Answer.resource(toOrganizationDto(await this.organizations.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'identity.organizations.delete',
    summary: 'Soft-delete an organization below one’s own',
    description: 'Its credentials are refused within a second.',
    problems: ['ancestor_required', 'has_children'],
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.organizations.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'identity.organizations.delete',
    summary: 'Restore an organization',
    response: OrganizationDto,
    problems: ['ancestor_required', 'invalid_state'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toOrganizationDto(await this.organizations.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'identity.organizations.purge',
    summary: 'Purge a soft-deleted organization that holds nothing but what is built in',
    problems: ['ancestor_required'],
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.organizations.purge(context, id);
  }
}
