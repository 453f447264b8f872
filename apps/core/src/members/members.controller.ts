import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  Endpoint,
  ListRequest,
  OptionalContext,
  Origin,
  type ListQuery,
  type Page,
  type RequestContext,
  type RequestOrigin,
} from '@customer-platform/http';
import { ConsentStateDto } from '../people/consents/consent.dto.js';
import { ContactDto } from '../people/contacts/contact.dto.js';
import { MemberConsentsService } from './member-consents.service.js';
import { UpdateMemberConsentsDto, MEMBER_CONSENT_LIST } from './member.dto.js';
import { MembersService } from './members.service.js';
import { MemberTokenDto, TokenExchangeDto } from './token-exchange.dto.js';
import { TokenExchangeService } from './token-exchange.service.js';

/** A tenant token is at most 8 KiB; a form doubles or triples what it encodes. */
const EXCHANGE_BYTES = 32 * 1024;

@Controller('v1/core/members')
export class MembersController {
  constructor(
    private readonly tokens: TokenExchangeService,
    private readonly members: MembersService,
    private readonly consents: MemberConsentsService,
  ) {}

  @Endpoint({
    method: 'POST',
    path: 'token-exchange',
    authorization: 'tenant_token',
    apiClass: 'member',
    latencyClass: 'member_core',
    summary: 'Exchange a tenant token for a member token',
    description:
      'RFC 8693. Either an API key as Bearer and the person’s external id, or no Bearer and a JWT that the ' +
      'organization signed. Whoever cannot be given a token is refused alike, whatever the reason.',
    body: 'json|form',
    bodyLimit: EXCHANGE_BYTES,
    response: MemberTokenDto,
    problems: ['invalid_subject_token'],
  })
  async exchange(
    @OptionalContext() context: RequestContext | undefined,
    @Body() body: TokenExchangeDto,
    @Origin() { ip }: RequestOrigin,
  ): Promise<Answer<MemberTokenDto>> {
    const token = await this.tokens.exchange(context, body, ip);
    return new Answer(token, { 'Cache-Control': 'no-store' });
  }

  @Endpoint({
    method: 'GET',
    path: 'me',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_core',
    summary: 'Read oneself',
    response: ContactDto,
  })
  me(@Context() context: RequestContext): Promise<ContactDto> {
    return this.members.me(context);
  }

  @Endpoint({
    method: 'GET',
    path: 'me/consents',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_core',
    summary: 'Read what one has agreed to',
    response: { page: ConsentStateDto },
  })
  listConsents(
    @Context() context: RequestContext,
    @ListRequest(MEMBER_CONSENT_LIST) query: ListQuery,
  ): Promise<Page<ConsentStateDto>> {
    return this.consents.list(context, query);
  }

  @Endpoint({
    method: 'PATCH',
    path: 'me/consents',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_core',
    summary: 'Say what one agrees to',
    description: 'All or nothing; a grant that holds already is not recorded again. Answers what holds then.',
    response: { page: ConsentStateDto },
  })
  updateConsents(
    @Context() context: RequestContext,
    @Body() body: UpdateMemberConsentsDto,
    @ListRequest(MEMBER_CONSENT_LIST) query: ListQuery,
  ): Promise<Page<ConsentStateDto>> {
    return this.consents.update(context, body.consents, query);
  }
}
