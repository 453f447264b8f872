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
import {
  CreateRoleAssignmentDto,
  RoleAssignmentDto,
  RoleAssignmentKeyDto,
  ROLE_ASSIGNMENTS_LIST,
} from './role-assignment.dto.js';
import { RoleAssignmentsService } from './role-assignments.service.js';

/** Which roles members have. */
@Controller('v1/identity/role-assignments')
export class RoleAssignmentsController {
  constructor(private readonly assignments: RoleAssignmentsService) {}

  @ListEndpoint({
    permission: 'identity.roles.assign',
    summary: 'List role assignments',
    response: RoleAssignmentDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(ROLE_ASSIGNMENTS_LIST) query: ListQuery,
  ): Promise<Page<RoleAssignmentDto>> {
    return this.assignments.list(context, query);
  }

  @CreateEndpoint({
    permission: 'identity.roles.assign',
    summary: 'Give a member a role',
    response: RoleAssignmentDto,
    problems: [
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'privilege_escalation',
      'duplicate_value',
      'limit_reached',
    ],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateRoleAssignmentDto): Promise<Answer> {
    const { membership_id: membershipId, role_id: roleId } = body;
    const assignment = await this.assignments.create(context, { membershipId, roleId });
    return Answer.created(assignment, `/v1/identity/role-assignments/${assignment.id}`);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.roles.assign',
    summary: 'Take a role from a member',
    description: 'Within a second.',
    problems: ['last_administrator'],
  })
  end(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.assignments.end(context, { id });
  }

  @Endpoint({
    method: 'DELETE',
    permission: 'identity.roles.assign',
    summary: 'Take a role from a member, by both',
    description: 'By `membership_id` and `role_id` in the query, or in a JSON body.',
    success: 204,
    problems: ['not_found', 'last_administrator'],
  })
  async endOfPair(
    @Context() context: RequestContext,
    @Query() query: RoleAssignmentKeyDto,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const given = { query, body };
    const pair = await readNaturalKey(RoleAssignmentKeyDto, given, ['membership_id', 'role_id']);
    await this.assignments.end(context, { membershipId: pair.membership_id, roleId: pair.role_id });
  }
}
