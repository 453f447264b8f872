import type { IncomingMessage } from 'node:http';
import {
  ApplicationPassport,
  clientAddress,
  CredentialStrategy,
  type AcceptedCredential,
} from '@customer-platform/http';
import type { ResolvedCaller } from './caller.js';
import type { CredentialResolver } from './credential-resolver.js';

/** API keys and access tokens: the credential of the `Authorization` header, resolved against the registry. */
export class ApiCredentialStrategy extends CredentialStrategy('api_credential') {
  constructor(
    passport: ApplicationPassport,
    private readonly resolver: CredentialResolver,
  ) {
    super(passport);
  }

  /**
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired` (401), `user_required` (403),
   *   `authorization_unavailable` (503)
   */
  override validate(
    request: IncomingMessage,
    { accepts }: { accepts: AcceptedCredential },
  ): Promise<ResolvedCaller> {
    return this.resolver.authenticate(request.headers.authorization, {
      accepts,
      address: clientAddress(request),
    });
  }
}
