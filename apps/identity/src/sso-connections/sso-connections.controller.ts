import { Controller, Inject } from '@nestjs/common';
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
import type { HeldDomains } from './domain-claims.js';
import { DomainProofs } from './domain-proofs.js';
import {
  CreateSsoConnectionDto,
  SsoConnectionDto,
  toSsoConnectionDto,
  UpdateSsoConnectionDto,
  SSO_CONNECTIONS_LIST,
} from './sso-connection.dto.js';
import type { SsoConnection } from './sso-connection.entity.js';
import { SsoConnectionsService } from './sso-connections.service.js';
import { SSO_CONFIG, type SsoConfig } from './sso.config.js';

/** As of a draft. */
const NOTHING_HELD: HeldDomains = new Map();

/** Where an organization's people sign in instead of here. */
@Controller('v1/identity/sso-connections')
export class SsoConnectionsController {
  constructor(
    private readonly connections: SsoConnectionsService,
    private readonly proofs: DomainProofs,
    @Inject(SSO_CONFIG) private readonly config: SsoConfig,
  ) {}

  @CreateEndpoint({
    permission: 'identity.sso.create',
    summary: 'Create an SSO connection',
    description: 'A draft, which leads nobody anywhere until it is activated.',
    response: SsoConnectionDto,
    problems: [
      'privilege_escalation',
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'destination_not_allowed',
    ],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateSsoConnectionDto): Promise<Answer> {
    return Answer.newResource(
      this.dto(await this.connections.create(context, body), NOTHING_HELD),
      '/v1/identity/sso-connections',
    );
  }

  @ListEndpoint({
    permission: 'identity.sso.read',
    summary: 'List SSO connections',
    response: SsoConnectionDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(SSO_CONNECTIONS_LIST) query: ListQuery,
  ): Promise<Page<SsoConnectionDto>> {
    const page = await this.connections.list(context, query);
    const held = await this.connections.held(
      context,
      page.data.map(({ id }) => id),
    );
    return mapPage(page, (row) => this.dto(row, held.get(row.id) ?? NOTHING_HELD));
  }

  @GetEndpoint({
    permission: 'identity.sso.read',
    summary: 'Read an SSO connection',
    response: SsoConnectionDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.answer(context, await this.connections.get(context, id));
  }

  @UpdateEndpoint({
    permission: 'identity.sso.update',
    summary: 'Change, activate or switch off an SSO connection',
    description:
      'What an active connection lets people do, the caller holds. Switched off, its sessions end within a second.',
    response: SsoConnectionDto,
    problems: [
      'privilege_escalation',
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'destination_not_allowed',
      'domain_unverified',
      'duplicate_value',
      'invalid_state',
    ],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateSsoConnectionDto,
  ): Promise<Answer> {
    return this.answer(context, await this.connections.update(context, id, body));
  }

  @SoftDeleteEndpoint({
    permission: 'identity.sso.delete',
    summary: 'Soft-delete an SSO connection',
    description: 'Its sessions end within a second.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.connections.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'identity.sso.delete',
    summary: 'Restore an SSO connection, switched off',
    response: SsoConnectionDto,
    problems: ['privilege_escalation'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.answer(context, await this.connections.restore(context, id));
  }

  @PurgeEndpoint({ permission: 'identity.sso.purge', summary: 'Purge a soft-deleted SSO connection' })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.connections.purge(context, id);
  }

  private async answer(context: RequestContext, row: SsoConnection): Promise<Answer> {
    const held = await this.connections.held(context, [row.id]);
    return Answer.resource(this.dto(row, held.get(row.id) ?? NOTHING_HELD));
  }

  private dto(row: SsoConnection, held: HeldDomains): SsoConnectionDto {
    const proofs = this.proofs.of(row, row.domains);
    return toSsoConnectionDto(row, { redirectUri: this.config.redirectUriOf(row.id), proofs, held });
  }
}
