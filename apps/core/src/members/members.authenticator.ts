import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import { Database } from '@customer-platform/database';
import {
  clientAddress,
  type AuthenticatedCaller,
  type MemberAuthenticator,
  type TenantAuthenticator,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { MemberContacts } from './member-contacts.js';
import { tenantKey } from './member-jwks.js';
import { MemberTokens, type MemberClaims } from './member-tokens.js';

const EXCHANGE = 'core.members.exchange';

/**
 * Who calls the Member API, and who may exchange tokens. A member token holds while whoever vouched for it does and
 * its contact is active: both are asked with every request, as fresh as any credential.
 */
@Injectable()
export class MembersAuthenticator implements MemberAuthenticator, TenantAuthenticator {
  constructor(
    private readonly tokens: MemberTokens,
    private readonly resolver: CredentialResolver,
    private readonly database: Database,
    private readonly contacts: MemberContacts,
  ) {}

  /**
   * The member of the `Authorization` header; of a merged contact, its survivor.
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `authorization_unavailable`
   */
  async authenticateMember({ headers }: IncomingMessage): Promise<AuthenticatedCaller> {
    return this.member(bearerToken(headers.authorization));
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
    const principal = { type: 'member', id: contact.id } as const;
    return { organizationId, organization, principal, actor: principal, permissions: new Set(), restriction };
  }

  /**
   * The API key of the header, if there is one.
   * @throws Problem `invalid_token`, `token_expired`, `organization_suspended`, `permission_denied`,
   *   `authorization_unavailable`
   */
  async authenticateTenant(request: IncomingMessage): Promise<AuthenticatedCaller | undefined> {
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const options = { accepts: 'api_key', address: clientAddress(request) } as const;
    const caller = await this.resolver.authenticate(authorization, options);
    if (caller.permissions.has(EXCHANGE)) return caller;
    throw new Problem('permission_denied', {
      detail: `The credential lacks the permission \`${EXCHANGE}\`.`,
      members: { permission: EXCHANGE },
    });
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

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === '') throw new Problem('missing_credentials');
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw new Problem('invalid_token');
  return token;
}
