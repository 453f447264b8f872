import { Controller } from '@nestjs/common';
import {
  AnyBody,
  Answer,
  Body,
  Context,
  CreateEndpoint,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  Query,
  readNaturalKey,
  SoftDeleteEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { CreateMembershipDto, MembershipDto, MembershipKeyDto, MEMBERSHIPS_LIST } from './membership.dto.js';
import { MembershipsService } from './memberships.service.js';

/** Who belongs to the organization. */
@Controller('v1/identity/memberships')
export class MembershipsController {
  constructor(private readonly memberships: MembershipsService) {}

  @ListEndpoint({
    permission: 'identity.memberships.read',
    summary: 'List memberships',
    response: MembershipDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(MEMBERSHIPS_LIST) query: ListQuery,
  ): Promise<Page<MembershipDto>> {
    return this.memberships.list(context, query);
  }

  @CreateEndpoint({
    permission: 'identity.memberships.create',
    summary: 'Make a user a member',
    response: MembershipDto,
    problems: ['reference_not_found', 'reference_deleted', 'duplicate_value'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateMembershipDto): Promise<Answer> {
    const membership = await this.memberships.create(context, body.user_id);
    return Answer.created(membership, `/v1/identity/memberships/${membership.id}`);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.memberships.delete',
    summary: 'End a membership',
    description: 'For good, with its role assignments and sessions, within a second.',
    problems: ['last_administrator'],
  })
  end(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.memberships.end(context, { id });
  }

  @Endpoint({
    method: 'DELETE',
    permission: 'identity.memberships.delete',
    summary: 'End the membership of a user',
    description: 'By `user_id` in the query, or in a JSON body.',
    success: 204,
    problems: ['not_found', 'last_administrator'],
  })
  async endOfUser(
    @Context() context: RequestContext,
    @Query() query: MembershipKeyDto,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const { user_id: userId } = await readNaturalKey(MembershipKeyDto, { query, body }, ['user_id']);
    await this.memberships.end(context, { userId });
  }
}
