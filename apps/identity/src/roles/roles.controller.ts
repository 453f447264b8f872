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
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import {
  CreateRoleDto,
  ReplacePermissionsDto,
  RoleDto,
  UpdateRoleDto,
  ROLES_LIST,
  toRoleDto,
} from './role.dto.js';
import { RolesService } from './roles.service.js';

/** What members and machines may do, by role. */
@Controller('v1/identity/roles')
export class RolesController {
  constructor(private readonly roles: RolesService) {}

  @CreateEndpoint({
    permission: 'identity.roles.create',
    summary: 'Create a role',
    response: RoleDto,
    problems: ['privilege_escalation', 'duplicate_value', 'limit_reached'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateRoleDto): Promise<Answer> {
    return Answer.newResource(toRoleDto(await this.roles.create(context, body)), '/v1/identity/roles');
  }

  @ListEndpoint({
    permission: 'identity.roles.read',
    summary: 'List roles, the built-in ones included',
    response: RoleDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(ROLES_LIST) query: ListQuery,
  ): Promise<Page<RoleDto>> {
    return mapPage(await this.roles.list(context, query), toRoleDto);
  }

  @GetEndpoint({ permission: 'identity.roles.read', summary: 'Read a role', response: RoleDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toRoleDto(await this.roles.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'identity.roles.update',
    summary: 'Rename or describe a role',
    response: RoleDto,
    problems: ['built_in_role', 'duplicate_value'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateRoleDto,
  ): Promise<Answer> {
    return Answer.resource(toRoleDto(await this.roles.update(context, id, body)));
  }

  @Endpoint({
    method: 'PUT',
    path: ':id/permissions',
    permission: 'identity.roles.update',
    summary: 'Replace what a role permits',
    description: 'Takes effect everywhere within a second. What is added must be the caller’s own.',
    success: 200,
    response: RoleDto,
    problems: ['built_in_role', 'resource_deleted', 'etag_mismatch', 'privilege_escalation'],
  })
  async replacePermissions(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() { permissions }: ReplacePermissionsDto,
  ): Promise<Answer> {
    return Answer.resource(toRoleDto(await this.roles.replacePermissions(context, id, permissions)));
  }

  @SoftDeleteEndpoint({
    permission: 'identity.roles.delete',
    summary: 'Soft-delete a role',
    description: 'It grants nothing from then on, within a second.',
    problems: ['built_in_role'],
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.roles.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'identity.roles.delete',
    summary: 'Restore a role, with what it permits',
    response: RoleDto,
    problems: ['privilege_escalation', 'limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toRoleDto(await this.roles.restore(context, id)));
  }

  @PurgeEndpoint({ permission: 'identity.roles.purge', summary: 'Purge a soft-deleted role' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.roles.purge(context, id);
  }
}
