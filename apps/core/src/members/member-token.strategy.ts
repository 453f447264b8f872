import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import { Database } from '@customer-platform/database';
import {
  ApplicationPassport,
  bearerTokenOf,
  CredentialStrategy,
  type AuthenticatedCaller,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MemberContacts } from './member-contacts.js';
import { tenantKey } from './member-jwks.js';
import { MemberTokens, type MemberClaims } from './member-tokens.js';

/** Whoever vouches for members has it. */
export const EXCHANGE = 'core.members.exchange';

/**
 * Tokens of the Member API. One holds while whoever vouched for it does and
 * its contact is active: both are asked with every request, as fresh as any credential.
 */
@Injectable()
export class MemberTokenStrategy extends CredentialStrategy('member_token') {
  constructor(
    passport: ApplicationPassport,
    private readonly tokens: MemberTokens,
    private readonly resolver: CredentialResolver,
    private readonly database: Database,
    private readonly contacts: MemberContacts,
  ) {
    super(passport);
  }

  /**
   * The member of the `Authorization` header; of a merged contact, its survivor.
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `authorization_unavailable`
   */
  override async validate(request: IncomingMessage): Promise<AuthenticatedCaller> {
    return this.member(bearerTokenOf(request));
  }

  /** The member of a token. @throws Problem `invalid_token`, `token_expired`, `authorization_unavailable` */
  async member(token: string): Promise<AuthenticatedCaller> {
    const claims = await this.tokens.verify(token);
    const { organization, restriction } = await this.vouching(claims);
    const { organizationId } = claims;
    const contact = await this.database.inOrganization({ organizationId }, (tx) =>
      this.contacts.active(tx, claims.contactId),
    );
    if (!contact || isBefore(claims.issuedAt, contact.members_from)) throw new Problem('invalid_token');
    const actor = { type: 'member', id: contact.id } as const;
    const principal = { ...actor, issuedTo: claims.contactId };
    return { organizationId, organization, principal, actor, permissions: new Set(), restriction };
  }

  /** A key that may no longer exchange tokens vouches for nobody, nor does a signing key that was taken away. */
  private async vouching({ organizationId, voucher }: MemberClaims) {
    if ('apiKeyId' in voucher) {
      const claims = { organization_id: organizationId, api_key_id: voucher.apiKeyId };
      const caller = await this.resolver.tenant(claims);
      if (!caller.permissions.has(EXCHANGE)) throw new Problem('invalid_token');
      return caller;
    }
    const caller = await this.resolver.tenant({ organization_id: organizationId });
    const key = await tenantKey(caller.organization, voucher.kid);
    if (key?.thumbprint !== voucher.thumbprint) throw new Problem('invalid_token');
    return caller;
  }
}

/** A token says the second in which it was issued; whatever else happened within that second is taken as earlier. */
function isBefore(issuedAt: number, instant: Date | null): boolean {
  return instant !== null && (issuedAt + 1) * 1_000 <= instant.getTime();
}
