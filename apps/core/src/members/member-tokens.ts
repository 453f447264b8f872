import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, isUuid, newId, SIGNING_ALGORITHM, SigningKeys } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { MEMBER_AUDIENCE } from './tenant-assertions.js';

/** A member token lives so long, in seconds (core.md §12). */
export const MEMBER_TOKEN_LIFE_S = 900;

/** On whose word a member token stands: that of an API key, or that of a key the organization signs with. */
type Voucher = { readonly apiKeyId: string } | { readonly kid: string; readonly thumbprint: string };

/** Who is given a member token, and on whose word. */
export interface MemberClaims {
  readonly organizationId: string;
  readonly contactId: string;
  readonly voucher: Voucher;
}

/** What a member token says. */
interface VerifiedMember extends MemberClaims {
  /** In seconds. */
  readonly issuedAt: number;
}

interface Payload {
  sub?: string;
  iat?: number;
  org_id?: unknown;
  act?: { sub?: unknown; jkt?: unknown };
}

/** The tokens of members: ES256 JWTs that say who, in which organization and on whose word, and nothing of rights. */
@Injectable()
export class MemberTokens {
  private readonly issuer = readConfig(serviceConfig).PUBLIC_URL;

  constructor(
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {}

  /** A token for 15 minutes; `act.sub` is the API key's id, or the `kid` with the thumbprint of its key. */
  async issue({ organizationId, contactId, voucher }: MemberClaims): Promise<string> {
    const { kid, privateKey } = await this.keys.toSign('member_tokens');
    const now = Math.floor(this.clock.now().getTime() / 1_000);
    const act =
      'apiKeyId' in voucher ? { sub: voucher.apiKeyId } : { sub: voucher.kid, jkt: voucher.thumbprint };
    return new SignJWT({ org_id: organizationId, act })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(this.issuer)
      .setAudience(MEMBER_AUDIENCE)
      .setSubject(contactId)
      .setIssuedAt(now)
      .setExpirationTime(now + MEMBER_TOKEN_LIFE_S)
      .setJti(newId())
      .sign(privateKey);
  }

  /**
   * What a token of ours says; whether it still holds is not asked here.
   * @throws Problem `invalid_token`, `token_expired`
   */
  async verify(token: string): Promise<VerifiedMember> {
    const key = await this.keyOf(token);
    try {
      const { payload } = await jwtVerify<Payload>(token, key, {
        algorithms: [SIGNING_ALGORITHM],
        issuer: this.issuer,
        audience: MEMBER_AUDIENCE,
        requiredClaims: ['sub', 'exp', 'iat', 'org_id', 'act'],
        currentDate: this.clock.now(),
      });
      return claimsOf(payload);
    } catch (error) {
      const expired = error instanceof errors.JWTExpired;
      throw new Problem(expired ? 'token_expired' : 'invalid_token', { cause: error });
    }
  }

  /** The public halves of the keys that verify tokens now, or will. */
  async shownKeys(): Promise<Record<string, unknown>[]> {
    return (await this.keys.shown('member_tokens', MEMBER_TOKEN_LIFE_S * 1_000)).map((key) => ({ ...key }));
  }

  private async keyOf(token: string) {
    const key = await this.keys.toVerify('member_tokens', kidOf(token));
    if (!key) throw new Problem('invalid_token');
    return key.publicKey;
  }
}

function kidOf(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? '';
  } catch (error) {
    throw new Problem('invalid_token', { cause: error });
  }
}

function claimsOf({ sub = '', iat = 0, org_id: organizationId, act = {} }: Payload): VerifiedMember {
  const { sub: actor, jkt } = act;
  if (!isUuid(sub) || typeof organizationId !== 'string' || typeof actor !== 'string')
    throw new Error('A member token of ours says less than it should');
  const voucher = typeof jkt === 'string' ? { kid: actor, thumbprint: jkt } : { apiKeyId: actor };
  return { organizationId, contactId: sub, voucher, issuedAt: iat };
}
