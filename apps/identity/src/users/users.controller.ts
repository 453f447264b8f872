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
import { CreateUserDto, UpdateUserDto, UserDto, USERS_LIST, toUserDto } from './user.dto.js';
import { UsersService } from './users.service.js';

/** The people an organization sees: its own, and its members. */
@Controller('v1/identity/users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @CreateEndpoint({
    permission: 'identity.users.create',
    summary: 'Create a user',
    description: 'The user is `invited` and a member of nothing yet.',
    response: UserDto,
    problems: ['duplicate_value', 'rate_limited'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateUserDto): Promise<Answer> {
    return Answer.newResource(toUserDto(await this.users.create(context, body)), '/v1/identity/users');
  }

  @ListEndpoint({
    permission: 'identity.users.read',
    summary: 'List the users one sees: one’s own, and members',
    response: UserDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(USERS_LIST) query: ListQuery,
  ): Promise<Page<UserDto>> {
    return mapPage(await this.users.list(context, query), toUserDto);
  }

  @GetEndpoint({ permission: 'identity.users.read', summary: 'Read a user', response: UserDto })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toUserDto(await this.users.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'identity.users.update',
    summary: 'Change a user of one’s own',
    description: 'Suspension and `reset_mfa` end all sessions within a second.',
    response: UserDto,
    problems: [
      'user_not_managed',
      'invalid_state',
      'duplicate_value',
      'privilege_escalation',
      'last_administrator',
      'rate_limited',
    ],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateUserDto,
  ): Promise<Answer> {
    return Answer.resource(toUserDto(await this.users.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'identity.users.delete',
    summary: 'Soft-delete a user of one’s own',
    description: 'Ends all sessions within a second; memberships rest.',
    problems: ['user_not_managed', 'last_administrator'],
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.users.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'identity.users.delete',
    summary: 'Restore a user, with the memberships that rested',
    response: UserDto,
    problems: ['user_not_managed', 'privilege_escalation', 'rate_limited'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toUserDto(await this.users.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'identity.users.purge',
    summary: 'Purge a soft-deleted user who is a member of nothing',
    problems: ['user_not_managed'],
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.users.purge(context, id);
  }
}
