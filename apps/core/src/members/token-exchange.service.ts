import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MemberContacts } from './member-contacts.js';
import { MEMBER_TOKEN_LIFE_S, MemberTokens, type MemberClaims } from './member-tokens.js';
import { InvalidAssertion, TenantAssertions } from './tenant-assertions.js';
import { TOKEN_TYPES, type MemberTokenDto, type TokenExchangeDto } from './token-exchange.dto.js';

/**
 * The exchange of a tenant token for a member token (RFC 8693, core.md §12). A subject that is unknown, deleted or
 * erased is refused like a token that is none, and nothing is ever made.
 */
@Injectable()
export class TokenExchangeService {
  constructor(
    private readonly database: Database,
    private readonly contacts: MemberContacts,
    private readonly assertions: TenantAssertions,
    private readonly tokens: MemberTokens,
  ) {}

  /**
   * `context` is that of the API key in the header; without one the subject token is the tenant's own, from `address`.
   * @throws Problem `missing_credentials`, `invalid_subject_token`, `organization_suspended`,
   *   `authorization_unavailable`, `rate_limited`
   */
  async exchange(
    context: RequestContext | undefined,
    body: TokenExchangeDto,
    address?: string,
  ): Promise<MemberTokenDto> {
    const byKey = body.subject_token_type === TOKEN_TYPES.externalId;
    if (byKey && !context) throw new Problem('missing_credentials');
    // Two tenant tokens at once: whose word would it be?
    if (!byKey && context) throw invalidSubject();
    const claims = context
      ? await this.byKey(context, body.subject_token)
      : await this.byAssertion(body.subject_token, address);
    return {
      access_token: await this.tokens.issue(claims),
      issued_token_type: TOKEN_TYPES.accessToken,
      token_type: 'Bearer',
      expires_in: MEMBER_TOKEN_LIFE_S,
    };
  }

  private async byKey(context: RequestContext, externalId: string): Promise<MemberClaims> {
    const contactId = await this.database.inOrganization(context, (tx) =>
      this.contacts.activeByExternalId(tx, externalId),
    );
    if (contactId === undefined) throw invalidSubject();
    const voucher = { apiKeyId: context.principal.id };
    return { organizationId: context.organizationId, contactId, voucher };
  }

  private async byAssertion(token: string, address: string | undefined): Promise<MemberClaims> {
    try {
      const assertion = await this.assertions.verify(token, address);
      if (assertion.suspended) throw new Problem('organization_suspended');
      const { organizationId, externalId, key } = assertion;
      const contactId = await this.database.inOrganization({ organizationId }, async (tx) => {
        await this.assertions.use(tx, assertion);
        return this.contacts.activeByExternalId(tx, externalId);
      });
      if (contactId === undefined) throw invalidSubject();
      return { organizationId, contactId, voucher: { kid: key.kid, thumbprint: key.thumbprint } };
    } catch (error) {
      throw error instanceof InvalidAssertion ? invalidSubject(error) : error;
    }
  }
}

function invalidSubject(cause?: unknown): Problem {
  // `error` is what RFC 8693 §2.2.2 has a client look at.
  return new Problem('invalid_subject_token', { members: { error: 'invalid_request' }, cause });
}
