import { Controller } from '@nestjs/common';
import { InternalEndpoint, type SigningKeySet } from '@customer-platform/authorization';
import { Body, type AuthenticatedCaller } from '@customer-platform/http';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { IsString, Length } from 'class-validator';
import { ReceiptKeys } from '../subject-requests/erasure/receipt-keys.js';
import { MemberTokenStrategy } from './member-token.strategy.js';
import { MemberTokens } from './member-tokens.js';

/** Body of `POST /internal/members/resolve`. */
class MemberTokenLookupDto {
  @IsString()
  @Length(1, 8_192)
  token: string;
}

/** Whom a member token stands for at this moment, or why for nobody. */
type ResolvedMember =
  | Pick<AuthenticatedCaller, 'organizationId' | 'organization' | 'principal' | 'restriction'>
  | { refused: ProblemCode };

const REFUSALS: readonly ProblemCode[] = ['invalid_token', 'token_expired'];

/** Members who call other modules: each request is asked about here, so that nothing of a token is cached there. */
@Controller('internal/members')
export class InternalMembersController {
  constructor(
    private readonly members: MemberTokenStrategy,
    private readonly tokens: MemberTokens,
    private readonly receipts: ReceiptKeys,
  ) {}

  /** What verifies tokens of members, and receipts of erasures, for the platform's key set. */
  @InternalEndpoint({ method: 'GET', path: 'keys', callers: ['identity'] })
  async keys(): Promise<SigningKeySet> {
    const [tokens, receipts] = await Promise.all([this.tokens.shownKeys(), this.receipts.shown()]);
    return { keys: [...tokens, ...receipts] };
  }

  @InternalEndpoint({ method: 'POST', path: 'resolve', callers: ['messaging'] })
  async resolve(@Body() { token }: MemberTokenLookupDto): Promise<ResolvedMember> {
    try {
      const {
        organizationId,
        organization,
        principal: { type, id },
        restriction = null,
      } = await this.members.member(token);
      return { organizationId, organization, principal: { type, id }, restriction };
    } catch (error) {
      // A status of its own would be taken for one about the calling module.
      if (error instanceof Problem && REFUSALS.includes(error.code)) return { refused: error.code };
      throw error;
    }
  }
}
