import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { LinkTokens, type NamedToken } from '../vocabulary/link-tokens.js';

/** Tokens by which a new password is chosen (identity.md §5). */
@Injectable()
export class PasswordResetTokens extends LinkTokens {
  constructor() {
    super({ prefix: 'pwr_', purpose: 'identity password reset tokens' });
  }

  /** What the link in the mail opens: the page of the provider that takes the new password. */
  linkOf(reset: NamedToken): string {
    const { PUBLIC_URL } = readConfig(serviceConfig.pick({ PUBLIC_URL: true }));
    return `${PUBLIC_URL}/oauth/password-reset?token=${this.tokenOf(reset)}`;
  }
}
