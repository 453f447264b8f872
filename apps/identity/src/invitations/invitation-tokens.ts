import { Injectable } from '@nestjs/common';
import { consoleAddress } from '../vocabulary/console-address.js';
import { LinkTokens, type NamedToken } from '../vocabulary/link-tokens.js';

/** Which token of which invitation; every resend makes another. */
export type TokenOfInvitation = NamedToken;

/** Tokens of invitations (identity.md §3). */
@Injectable()
export class InvitationTokens extends LinkTokens {
  constructor() {
    super({ prefix: 'inv_', purpose: 'identity invitation tokens' });
  }

  /** What the link in the mail opens. In the fragment, which no server and no log of one is told. */
  linkOf(invitation: TokenOfInvitation): string {
    return `${consoleAddress('invitation')}#token=${this.tokenOf(invitation)}`;
  }
}
