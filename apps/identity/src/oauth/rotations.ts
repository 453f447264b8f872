import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { AdapterPayload } from 'oidc-provider';
import { AccessTokenIssuing, type TokenSession } from '../sessions/access-token.issuing.js';
import { SessionGrants } from './session-grants.js';
import { StoredTokens } from './stored-tokens.js';

interface Rotation {
  readonly token: string;
  session?: TokenSession | undefined;
}

/**
 * A refresh token is used up, its successor kept and its session noted as in use in one transaction, which is the last
 * that can fail: where it does, the client still holds a token that is good, and its next try is no copy. The provider
 * does these one after the other, and tells of them within one request.
 */
@Injectable()
export class Rotations {
  private readonly underWay = new WeakMap<object, Rotation>();

  constructor(
    private readonly database: Database,
    private readonly tokens: StoredTokens,
    private readonly grants: SessionGrants,
    private readonly issuing: AccessTokenIssuing,
  ) {}

  /** This request replaces a refresh token. Nothing is written before its successor is known. */
  begin(request: object, token: string): void {
    this.underWay.set(request, { token });
  }

  /** The token that a request replaces, which is still as it was. */
  replacedBy(request: object): string | undefined {
    return this.underWay.get(request)?.token;
  }

  /** @returns false where another request has used the token up: nothing is kept then */
  async complete(
    request: object,
    successor: string,
    payload: AdapterPayload,
    livesS: number,
  ): Promise<boolean> {
    const rotation = this.underWay.get(request);
    if (!rotation) throw new Error('The request replaces no refresh token');
    await this.issuing.prepare();
    return this.database.acrossOrganizations(async (tx) => {
      if (!(await this.tokens.consumeIn(tx, 'RefreshToken', rotation.token))) return false;
      await this.tokens.insertIn(tx, 'RefreshToken', successor, payload, livesS);
      rotation.session = await this.grants.useIn(tx, payload.grantId ?? '');
      return true;
    });
  }

  /** The session that a request has noted as in use already. */
  sessionOf(request: object): TokenSession | undefined {
    return this.underWay.get(request)?.session;
  }
}
