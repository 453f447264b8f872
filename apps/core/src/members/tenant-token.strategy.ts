import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import {
  ApplicationPassport,
  clientAddress,
  CredentialStrategy,
  type AuthenticatedCaller,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { EXCHANGE } from './member-token.strategy.js';

/** The API key of whoever exchanges tokens, where it is a header's: it may stand in the body, which the handler judges. */
@Injectable()
export class TenantTokenStrategy extends CredentialStrategy('tenant_token') {
  constructor(
    passport: ApplicationPassport,
    private readonly resolver: CredentialResolver,
  ) {
    super(passport);
  }

  /**
   * @throws Problem `invalid_token`, `token_expired`, `organization_suspended`, `permission_denied`,
   *   `authorization_unavailable`
   */
  override async validate(request: IncomingMessage): Promise<AuthenticatedCaller | undefined> {
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
}
