import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { InternalClient } from '@customer-platform/authorization';
import {
  ApplicationPassport,
  bearerTokenOf,
  CredentialStrategy,
  type AuthenticatedCaller,
} from '@customer-platform/http';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';

/** What core answers of a member token. */
type ResolvedMember =
  | (Pick<AuthenticatedCaller, 'organizationId' | 'organization' | 'principal'> & {
      restriction: 'organization_suspended' | null;
    })
  | { readonly refused: Extract<ProblemCode, 'invalid_token' | 'token_expired'> };

/** Core asks whoever vouched for the token in turn; together they stay below what a member waits for. */
const TIMEOUT_MS = 1_000;

/**
 * Who calls a member route of messaging: core says, for it gave the token out and knows whether its voucher and its
 * contact still stand. Asked with every request; an answer kept would outlive a revocation.
 */
@Injectable()
export class MemberTokenStrategy extends CredentialStrategy('member_token') {
  constructor(
    passport: ApplicationPassport,
    private readonly core: InternalClient,
  ) {
    super(passport);
  }

  /** @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `authorization_unavailable` */
  override async validate(request: IncomingMessage): Promise<AuthenticatedCaller> {
    const member = await this.ask(bearerTokenOf(request));
    if ('refused' in member) throw new Problem(member.refused);
    return { ...member, actor: member.principal, permissions: new Set() };
  }

  private async ask(token: string): Promise<ResolvedMember> {
    try {
      return await this.core.call<ResolvedMember>('core', {
        method: 'POST',
        path: '/internal/members/resolve',
        body: { token },
        timeoutMs: TIMEOUT_MS,
        lane: 'members',
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      throw new Problem('authorization_unavailable', { cause: error });
    }
  }
}
