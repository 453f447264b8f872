import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import { Clock, isUuid, type Transaction } from '@customer-platform/database';
import { isStorableText } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { TENANT_ALGORITHMS, tenantKey, type TenantKey } from './member-jwks.js';

/** For whom both tenant tokens and member tokens are. */
export const MEMBER_AUDIENCE = 'member-api';

/** A tenant token lives so long at most (core.md §12). */
const LIFE_S = 300;
/** Allowed difference between the clocks of two machines. */
const CLOCK_TOLERANCE_S = 5;
/** As long as an external id may be (core.md §2). */
const LONGEST_SUBJECT = 200;
const LONGEST_JTI = 255;
/** Said as they are: none of them tells whether an organization exists. */
const PASSED_ON: ReadonlySet<string> = new Set(['authorization_unavailable', 'rate_limited']);
/** How many used-up tokens each new one clears away. */
const CLEARED_AT_ONCE = 10;

const CLEAR = `
  WITH expired AS (
    SELECT jti_hash FROM member_assertions
     WHERE organization_id = $1 AND expires_at < $2 LIMIT ${String(CLEARED_AT_ONCE)} FOR UPDATE SKIP LOCKED
  )
  DELETE FROM member_assertions AS used USING expired
   WHERE used.organization_id = $1 AND used.jti_hash = expired.jti_hash`;

const USE = `
  INSERT INTO member_assertions (organization_id, jti_hash, expires_at) VALUES ($1, $2, $3)
  ON CONFLICT DO NOTHING RETURNING jti_hash`;

/** What an organization has signed about one of its people. */
interface TenantAssertion {
  readonly organizationId: string;
  readonly suspended: boolean;
  readonly externalId: string;
  readonly key: TenantKey;
  readonly jti: string;
  /** It is good for nothing after that. */
  readonly expiresAt: Date;
}

/** A token that is none: whatever is the matter with it, the caller is told the same. */
export class InvalidAssertion extends Error {
  override readonly name = 'InvalidAssertion';
}

/** Tokens that organizations sign themselves, to be exchanged for a member token (core.md §12). */
@Injectable()
export class TenantAssertions {
  constructor(
    private readonly resolver: CredentialResolver,
    private readonly clock: Clock,
  ) {}

  /**
   * What the token says, by a key that its organization has now. `address` is from where it came.
   * @throws InvalidAssertion, Problem `authorization_unavailable`, `rate_limited` for too many unknown organizations
   */
  async verify(token: string, address?: string): Promise<TenantAssertion> {
    const { organizationId, kid } = claimed(token);
    const tenant = await this.organization(organizationId, address);
    const key = await tenantKey(tenant.organization, kid);
    if (!key) throw new InvalidAssertion('The organization has no such key');
    const now = this.clock.now();
    const { sub, jti, exp } = await this.payload(token, key, organizationId, now);
    if (exp * 1_000 - now.getTime() > (LIFE_S + CLOCK_TOLERANCE_S) * 1_000)
      throw new InvalidAssertion('The token lives too long');
    return {
      organizationId,
      suspended: tenant.restriction === 'organization_suspended',
      externalId: sub,
      key,
      jti,
      expiresAt: new Date((exp + CLOCK_TOLERANCE_S) * 1_000),
    };
  }

  /** Uses it up. @throws InvalidAssertion when it was used before */
  async use(tx: Transaction, { jti, expiresAt }: TenantAssertion): Promise<void> {
    await tx.query(CLEAR, [tx.organizationId, this.clock.now()]);
    const hash = createHash('sha256').update(jti).digest();
    const used = await tx.query(USE, [tx.organizationId, hash, expiresAt]);
    if (used.length === 0) throw new InvalidAssertion('The token was used before');
  }

  private async organization(organizationId: string, address: string | undefined) {
    try {
      return await this.resolver.tenant({ organization_id: organizationId }, { unverified: true, address });
    } catch (error) {
      if (error instanceof Problem && !PASSED_ON.has(error.code))
        throw new InvalidAssertion('There is no such organization', { cause: error });
      throw error;
    }
  }

  private async payload(token: string, key: TenantKey, issuer: string, now: Date) {
    try {
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [key.algorithm],
        issuer: [issuer, issuer.toUpperCase()],
        audience: MEMBER_AUDIENCE,
        requiredClaims: ['sub', 'exp', 'jti'],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: now,
      });
      const { sub, jti, exp = 0 } = payload;
      if (!isText(sub, LONGEST_SUBJECT) || !isText(jti, LONGEST_JTI))
        throw new Error('A claim is no such text');
      return { sub, jti, exp };
    } catch (error) {
      throw new InvalidAssertion('The token does not hold', { cause: error });
    }
  }
}

/** Who says to have signed it; nothing of it is believed yet. */
function claimed(token: string): { organizationId: string; kid: string } {
  try {
    const { alg = '', kid } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    const known: readonly string[] = TENANT_ALGORITHMS;
    if (iss !== undefined && isUuid(iss) && typeof kid === 'string' && known.includes(alg))
      return { organizationId: iss.toLowerCase(), kid };
  } catch (error) {
    throw new InvalidAssertion('This is no token', { cause: error });
  }
  throw new InvalidAssertion('The token names no issuer, no key or no algorithm');
}

/** Claims are no body whose texts were looked at: what cannot be stored names nobody. */
function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= longest && isStorableText(value);
}
