import { Controller, Headers } from '@nestjs/common';
import {
  Answer,
  AnyBody,
  Body,
  Context,
  CorrelationId,
  CreateEndpoint,
  Endpoint,
  Id,
  ListEndpoint,
  ListRequest,
  Origin,
  SoftDeleteEndpoint,
  type ListQuery,
  type Page,
  type RequestContext,
  type RequestOrigin,
} from '@customer-platform/http';
import {
  AcceptedInvitationDto,
  AcceptInvitationDto,
  CreateInvitationDto,
  InvitationDto,
  INVITATIONS_LIST,
} from './invitation.dto.js';
import { InvitationAcceptance } from './invitation-acceptance.js';
import { InvitationsService } from './invitations.service.js';

/** Nobody gives a token, a name and a password that need more. */
const ACCEPTANCE_BYTES = 8 * 1024;

/** How people come into the organization. */
@Controller('v1/identity/invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly acceptance: InvitationAcceptance,
  ) {}

  @CreateEndpoint({
    permission: 'identity.invitations.create',
    summary: 'Invite somebody by mail',
    description: 'Whether anybody has the address already makes no difference to the answer.',
    response: InvitationDto,
    problems: [
      'reference_not_found',
      'reference_deleted',
      'role_kind_mismatch',
      'privilege_escalation',
      'duplicate_value',
    ],
  })
  async create(@Context() context: RequestContext, @Body() body: CreateInvitationDto): Promise<Answer> {
    const invitation = await this.invitations.create(context, body);
    return Answer.created(invitation, `/v1/identity/invitations/${invitation.id}`);
  }

  @ListEndpoint({
    permission: 'identity.invitations.read',
    summary: 'List invitations',
    response: InvitationDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(INVITATIONS_LIST) query: ListQuery,
  ): Promise<Page<InvitationDto>> {
    return this.invitations.list(context, query);
  }

  @Endpoint({
    method: 'POST',
    path: 'accept',
    authorization: 'invitation_token',
    summary: 'Accept an invitation',
    description:
      'With the token of the link, which works once. Who is new gives a name and a password and gets an access ' +
      'token; who has an account signs in first, sends their own access token as `Authorization: Bearer`, and gives ' +
      'the token alone.',
    bodyLimit: ACCEPTANCE_BYTES,
    request: AcceptInvitationDto,
    response: AcceptedInvitationDto,
    problems: [
      'missing_credentials',
      'invalid_token',
      'token_expired',
      'organization_suspended',
      'sign_in_required',
      'mfa_required',
      'authorization_unavailable',
      'account_exists',
      'limit_reached',
      'rate_limited',
    ],
  })
  async accept(
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @Headers('authorization') authorization: string | undefined,
    @AnyBody() body: unknown,
  ): Promise<Answer<AcceptedInvitationDto>> {
    const accepted = await this.acceptance.accept({ ...origin, correlationId, authorization }, body);
    return new Answer(accepted, { 'Cache-Control': 'no-store' });
  }

  @Endpoint({
    method: 'POST',
    path: ':id/resend',
    permission: 'identity.invitations.create',
    summary: 'Send an invitation again, with a new token and its whole time',
    description: 'The token before is dead. Five times within a day.',
    success: 200,
    body: 'none',
    response: InvitationDto,
    problems: ['invalid_state', 'privilege_escalation', 'duplicate_value', 'rate_limited'],
  })
  resend(@Context() context: RequestContext, @Id() id: string): Promise<InvitationDto> {
    return this.invitations.resend(context, id);
  }

  @SoftDeleteEndpoint({
    tagged: false,
    permission: 'identity.invitations.create',
    summary: 'Withdraw an invitation',
    description: 'Its token is dead, and a mail that has not left yet does not leave.',
    problems: ['invalid_state'],
  })
  withdraw(@Context() context: RequestContext, @Id() id: string): Promise<void> {
    return this.invitations.withdraw(context, id);
  }
}
