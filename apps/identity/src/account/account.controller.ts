import { Controller } from '@nestjs/common';
import {
  Answer,
  Body,
  Context,
  Endpoint,
  GetEndpoint,
  UpdateEndpoint,
  type RequestContext,
} from '@customer-platform/http';
import { AccountDto, ChangePasswordDto, toAccountDto, UpdateAccountDto } from './account.dto.js';
import { AccountService } from './account.service.js';
import { EmptyDto } from '../password-resets/password-reset.dto.js';
import { OwnPassword } from './own-password.js';

/** Nobody gives passwords that need more. */
const BODY_BYTES = 8 * 1024;

/** The calling user's own account. No administrator's permission is asked for, and no tenant's client changes it. */
@Controller('v1/identity/users')
export class AccountController {
  constructor(
    private readonly account: AccountService,
    private readonly password: OwnPassword,
  ) {}

  @GetEndpoint({
    path: 'me',
    permission: 'identity.account.read',
    accepts: 'user',
    summary: 'Read one’s own account',
    response: AccountDto,
  })
  async get(@Context() context: RequestContext): Promise<Answer<AccountDto>> {
    return Answer.resource(toAccountDto(await this.account.read(context)));
  }

  @UpdateEndpoint({
    path: 'me',
    permission: 'identity.account.manage',
    accepts: 'user',
    summary: 'Change one’s own name, language and time zone',
    description: 'Null clears language and zone: those of the organization hold then.',
    response: AccountDto,
    problems: ['user_not_managed'],
  })
  async update(
    @Context() context: RequestContext,
    @Body() body: UpdateAccountDto,
  ): Promise<Answer<AccountDto>> {
    return Answer.resource(toAccountDto(await this.account.update(context, body)));
  }

  @Endpoint({
    method: 'POST',
    path: 'me/password',
    permission: 'identity.account.manage',
    accepts: 'user',
    summary: 'Change one’s own password',
    description:
      'By the present one; wrong ones count as at sign-in. Who has none yet, and signs in by no provider, has to have ' +
      'signed in within the last ten minutes. Ends all other sessions.',
    success: 200,
    bodyLimit: BODY_BYTES,
    response: EmptyDto,
    problems: [
      'user_not_managed',
      'single_sign_on_required',
      'fresh_sign_in_required',
      'current_password_invalid',
      'rate_limited',
    ],
  })
  async changePassword(
    @Context() context: RequestContext,
    @Body() body: ChangePasswordDto,
  ): Promise<Answer<EmptyDto>> {
    await this.password.change(context, body);
    return new Answer({}, { 'Cache-Control': 'no-store' });
  }
}
