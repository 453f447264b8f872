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
  CreateOAuthClientDto,
  OAuthClientDto,
  OAuthClientWithSecretDto,
  UpdateOAuthClientDto,
  OAUTH_CLIENTS_LIST,
  toOAuthClientDto,
  toShownClientDto,
} from './oauth-client.dto.js';
import { OAuthClientsService } from './oauth-clients.service.js';

/** Applications that people sign in with, and machines with client credentials. */
@Controller('v1/identity/oauth-clients')
export class OAuthClientsController {
  constructor(private readonly clients: OAuthClientsService) {}

  @CreateEndpoint({
    permission: 'identity.oauth_clients.create',
    summary: 'Register an OAuth client',
    description: 'The secret of a confidential client is shown in this answer and never again.',
    response: OAuthClientWithSecretDto,
    secretFields: ['client_secret'],
    problems: [
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'privilege_escalation',
      'limit_reached',
    ],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateOAuthClientDto): Promise<Answer> {
    return Answer.newResource(
      toShownClientDto(await this.clients.create(context, body)),
      '/v1/identity/oauth-clients',
    );
  }

  @ListEndpoint({
    permission: 'identity.oauth_clients.read',
    summary: 'List OAuth clients',
    response: OAuthClientDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(OAUTH_CLIENTS_LIST) query: ListQuery,
  ): Promise<Page<OAuthClientDto>> {
    return mapPage(await this.clients.list(context, query), toOAuthClientDto);
  }

  @GetEndpoint({
    permission: 'identity.oauth_clients.read',
    summary: 'Read an OAuth client',
    response: OAuthClientDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toOAuthClientDto(await this.clients.get(context, id)));
  }

  @UpdateEndpoint({
    permission: 'identity.oauth_clients.update',
    summary: 'Change an OAuth client, or replace its secret',
    description:
      'With `rotate_secret` the answer shows a new secret. The former ends at once, and with it every token and session ' +
      'that the client has: within a second, everywhere.',
    response: OAuthClientWithSecretDto,
    problems: ['reference_not_found', 'reference_deleted', 'role_kind_mismatch', 'privilege_escalation'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateOAuthClientDto,
  ): Promise<Answer> {
    return Answer.resource(toShownClientDto(await this.clients.update(context, id, body)));
  }

  @SoftDeleteEndpoint({
    permission: 'identity.oauth_clients.delete',
    summary: 'Soft-delete an OAuth client',
    description: 'Every token and session that it has ends, within a second, everywhere.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.clients.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'identity.oauth_clients.delete',
    summary: 'Restore an OAuth client, with its secret',
    response: OAuthClientDto,
    problems: ['reference_deleted', 'privilege_escalation', 'limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return Answer.resource(toOAuthClientDto(await this.clients.restore(context, id)));
  }

  @PurgeEndpoint({
    permission: 'identity.oauth_clients.purge',
    summary: 'Purge a soft-deleted OAuth client',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.clients.purge(context, id);
  }
}
