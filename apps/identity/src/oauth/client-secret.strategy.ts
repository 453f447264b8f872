import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ApplicationPassport, CredentialStrategy } from '@customer-platform/http';
import { isClientSecret } from '../vocabulary/client-secret.js';

/** The secret that a client shows in the header or the form, as the protocol's library has read it. */
interface ShownSecret {
  readonly clientId: string;
  readonly secret: string;
  /** The hash of the secret that the client has; undefined where it has none. */
  readonly hash: string | undefined;
}

/**
 * The secret of an OAuth client, at the endpoints of the protocol: its library knows where a secret may stand and how a
 * wrong one is answered, and asks here whether it is the client's.
 */
@Injectable()
export class ClientSecretStrategy extends CredentialStrategy('client_secret') {
  constructor(passport: ApplicationPassport) {
    super(passport);
  }

  override validate(_request: IncomingMessage, shown: ShownSecret): { clientId: string } | undefined {
    const { clientId, secret, hash } = shown;
    return hash !== undefined && isClientSecret(secret, hash) ? { clientId } : undefined;
  }
}
