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
import { DnsRecords } from './dns-records.js';
import {
  CreateSenderDomainDto,
  SenderDomainDto,
  UpdateSenderDomainDto,
  SENDER_DOMAINS_LIST,
  toSenderDomainDto,
} from './sender-domain.dto.js';
import type { SenderDomainEntity } from './sender-domain.entity.js';
import { SenderDomainsService } from './sender-domains.service.js';
import { VerificationService } from './verification.service.js';

@Controller('v1/messaging/sender-domains')
export class SenderDomainsController {
  constructor(
    private readonly domains: SenderDomainsService,
    private readonly verification: VerificationService,
    private readonly records: DnsRecords,
  ) {}

  @CreateEndpoint({
    permission: 'messaging.domains.create',
    summary: 'Create a sender domain',
    description:
      'The answer names the records to publish. Mail of the organization leaves from verified domains only, local ' +
      'mode apart, and is signed by their keys. Another organization may have the same domain: each proves it by a ' +
      'record of its own.',
    response: SenderDomainDto,
    problems: ['duplicate_value', 'limit_reached', 'rate_limited'],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateSenderDomainDto): Promise<Answer> {
    const row = await this.domains.create(context, body);
    return Answer.newResource(toSenderDomainDto(row, this.records), '/v1/messaging/sender-domains');
  }

  @ListEndpoint({
    permission: 'messaging.domains.read',
    summary: 'List sender domains',
    response: SenderDomainDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(SENDER_DOMAINS_LIST) query: ListQuery,
  ): Promise<Page<SenderDomainDto>> {
    return mapPage(await this.domains.list(context, query), (row) => toSenderDomainDto(row, this.records));
  }

  @GetEndpoint({
    permission: 'messaging.domains.read',
    summary: 'Read a sender domain',
    description: 'With the records to publish and what DNS last said of each.',
    response: SenderDomainDto,
  })
  async get(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.tagged(await this.domains.get(context, id));
  }

  @UpdateEndpoint({
    permission: 'messaging.domains.create',
    summary: 'Rotate the keys of a sender domain',
    response: SenderDomainDto,
    problems: ['rate_limited'],
  })
  async update(
    @Context() context: RequestContext,
    @Id() id: string,
    @Body() body: UpdateSenderDomainDto,
  ): Promise<Answer> {
    return this.tagged(await this.domains.update(context, id, body));
  }

  @SoftDeleteEndpoint({
    permission: 'messaging.domains.delete',
    summary: 'Soft-delete a sender domain',
    description: 'Nothing leaves from it any more.',
  })
  softDelete(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.domains.softDelete(context, id);
  }

  @RestoreEndpoint({
    permission: 'messaging.domains.delete',
    summary: 'Restore a sender domain',
    description: 'It is `pending` until it is verified anew.',
    response: SenderDomainDto,
    problems: ['limit_reached'],
  })
  async restore(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.tagged(await this.domains.restore(context, id));
  }

  @PurgeEndpoint({
    permission: 'messaging.domains.purge',
    summary: 'Purge a sender domain',
    description: '409 while the channel of mail sends from it.',
  })
  purge(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.domains.purge(context, id);
  }

  @Endpoint({
    method: 'POST',
    path: ':id/verify',
    permission: 'messaging.domains.verify',
    summary: 'Verify a sender domain',
    description:
      'Asks DNS now, for five seconds at most. It is `verified` when the required records are found. A name server ' +
      'that does not answer changes nothing. Beside it each domain is checked once a day; one that was verified and ' +
      'has been without a required record for 72 h is `failed`. 30 calls a minute.',
    success: 200,
    response: SenderDomainDto,
    problems: ['invalid_id', 'not_found', 'resource_deleted', 'rate_limited'],
  })
  async verify(@Context() context: RequestContext, @Id() id: string): Promise<Answer> {
    return this.tagged(await this.verification.verify(context, id));
  }

  private tagged(row: SenderDomainEntity): Answer {
    return Answer.resource(toSenderDomainDto(row, this.records));
  }
}
