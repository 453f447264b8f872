import type { IncomingMessage } from 'node:http';
import { clientAddress, type AcceptedCredential, type Authenticator } from '@customer-platform/http';
import type { ResolvedCaller } from './caller.js';
import type { CredentialResolver } from './credential-resolver.js';

/** The platform's authenticator: the credential of the `Authorization` header, resolved against the registry. */
export class ApiAuthenticator implements Authenticator {
  constructor(private readonly resolver: CredentialResolver) {}

  authenticate(request: IncomingMessage, accepts: AcceptedCredential): Promise<ResolvedCaller> {
    return this.resolver.authenticate(request.headers.authorization, {
      accepts,
      address: clientAddress(request),
    });
  }
}
