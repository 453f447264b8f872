import { Controller } from '@nestjs/common';
import {
  Answer,
  AnyBody,
  Body,
  CorrelationId,
  Endpoint,
  Origin,
  type RequestOrigin,
} from '@customer-platform/http';
import { ConfirmPasswordResetDto, EmptyDto, RequestPasswordResetDto } from './password-reset.dto.js';
import { PasswordResets } from './password-resets.js';

/** Nobody gives an address, a token or a password that need more. */
const BODY_BYTES = 8 * 1024;
const NOT_STORED = { 'Cache-Control': 'no-store' };

/** How somebody gets a new password who has forgotten theirs. */
@Controller('v1/identity/password-resets')
export class PasswordResetsController {
  constructor(private readonly resets: PasswordResets) {}

  @Endpoint({
    method: 'POST',
    authorization: 'none',
    summary: 'Ask for a mail by which to choose a new password',
    description:
      'The answer is the same whether anybody has the address, and whether a mail is sent: to one address at most ' +
      'five an hour. A user whose organization demands single sign-on gets a mail that says so.',
    success: 202,
    bodyLimit: BODY_BYTES,
    response: EmptyDto,
  })
  async request(
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @Body() { email, locale }: RequestPasswordResetDto,
  ): Promise<Answer<EmptyDto>> {
    await this.resets.request({ ...origin, correlationId, email, locale });
    return new Answer({}, NOT_STORED);
  }

  @Endpoint({
    method: 'POST',
    path: 'confirm',
    authorization: 'reset_token',
    summary: 'Choose a new password',
    description:
      'With the token of the link, which works once. Ends all of the user’s sessions, signs nobody in, and leaves ' +
      'second factors as they are.',
    bodyLimit: BODY_BYTES,
    request: ConfirmPasswordResetDto,
    response: EmptyDto,
    problems: ['missing_credentials', 'invalid_token', 'token_expired', 'rate_limited'],
  })
  async confirm(
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @AnyBody() body: unknown,
  ): Promise<Answer<EmptyDto>> {
    await this.resets.confirm(body, { ...origin, correlationId });
    return new Answer({}, NOT_STORED);
  }
}
