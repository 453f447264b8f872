import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { errors, type AdapterPayload } from 'oidc-provider';
import { AccessTokenIssuing, type TokenSession } from '../sessions/access-token.issuing.js';
import { SessionGrants } from './session-grants.js';
import { StoredTokens, type TokenKind } from './stored-tokens.js';

interface Exchange {
  readonly kind: TokenKind;
  readonly token: string;
  session?: TokenSession | undefined;
}

/** The refresh token that comes of an exchange, as it is to be kept. */
interface Successor {
  readonly token: string;
  readonly payload: AdapterPayload;
  readonly livesS: number;
}

/**
 * A code or refresh token is used up, the refresh token that comes of it kept and the session noted as in use in one
 * transaction, which is the last that can fail: where it does, the client still holds a token that is good, and its next
 * try is no copy. The provider does these one after the other, and tells of them within one request.
 */
@Injectable()
export class Exchanges {
  private readonly underWay = new WeakMap<object, Exchange>();

  constructor(
    private readonly database: Database,
    private readonly tokens: StoredTokens,
    private readonly grants: SessionGrants,
    private readonly issuing: AccessTokenIssuing,
  ) {}

  /** This request exchanges a token. Nothing is written before it is known what comes of it. */
  begin(request: object, kind: TokenKind, token: string): void {
    this.underWay.set(request, { kind, token });
  }

  /** The code or token that a request exchanges, as it was found. */
  of(request: object): Pick<Exchange, 'kind' | 'token'> | undefined {
    return this.underWay.get(request);
  }

  /** @returns false where another request has used the token up: nothing is kept then */
  async complete(request: object, grantId: string, successor?: Successor): Promise<boolean> {
    const exchange = this.underWay.get(request);
    if (!exchange) throw new Error('The request exchanges no token');
    await this.issuing.prepare();
    return this.database.acrossOrganizations(async (tx) => {
      if (!(await this.tokens.consumeIn(tx, exchange.kind, exchange.token))) return false;
      if (successor) {
        const { token, payload, livesS } = successor;
        await this.tokens.insertIn(tx, 'RefreshToken', token, payload, livesS);
      }
      exchange.session = await this.grants.useIn(tx, grantId);
      return true;
    });
  }

  /** The session that a request has noted as in use already. */
  sessionOf(request: object): TokenSession | undefined {
    return this.underWay.get(request)?.session;
  }

  /**
   * Ends the session of a token that was exchanged twice. The provider looks, and then consumes: of fifty at once all may
   * look before one consumes, and only the statement that consumes can tell which are copies.
   */
  async endOfCopy(kind: TokenKind, token: string): Promise<void> {
    const grantId = await this.tokens.grantOf(kind, token);
    if (grantId !== undefined) await this.grants.end(grantId, 'token_reuse');
  }
}

/** The answer to a copy. */
export function usedBefore(): errors.InvalidGrant {
  return new errors.InvalidGrant('it was used before');
}
