import { Injectable } from '@nestjs/common';
import { Database, isUuid } from '@customer-platform/database';
import type { Account, FindAccount } from 'oidc-provider';
import { platformClient } from './client-metadata.js';
import { available } from './database-away.js';
import { epochSeconds } from './epoch-seconds.js';
import { fromGrantId } from './grant-id.js';
import { ORGANIZATION_CLAIMS, ORGANIZATION_SCOPE, OrganizationClaims } from './organization-claims.js';

const FIND = `
SELECT email, email_verified, name, locale, timezone, updated_at FROM users
 WHERE id = $1 AND status = 'active' AND deleted_at IS NULL`;

interface UserRow {
  email: string;
  email_verified: boolean;
  name: string;
  locale: string | null;
  timezone: string | null;
  updated_at: Date;
}

/** What each scope tells of a user (identity.md §7). */
export const CLAIMS = {
  openid: ['sub', 'sid', 'org_id', 'auth_time', 'amr'],
  profile: ['name', 'locale', 'zoneinfo', 'updated_at'],
  email: ['email', 'email_verified'],
  [ORGANIZATION_SCOPE]: [...ORGANIZATION_CLAIMS],
};

/** Users as the provider knows them. */
@Injectable()
export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly organizations: OrganizationClaims,
  ) {}

  /** Undefined for whoever cannot sign in any more. */
  readonly find: FindAccount = async (ctx, id, token) => {
    if (!isUuid(id)) return undefined;
    const [user] = await available(
      this.database.acrossOrganizations((tx) => tx.prepared<UserRow>(FIND, [id])),
    );
    if (!user) return undefined;
    const grantId = token?.['grantId'];
    const of = fromGrantId(typeof grantId === 'string' ? grantId : undefined);
    const claims = {
      sub: id,
      ...(of ? { sid: of.sessionId, org_id: of.organizationId } : {}),
      name: user.name,
      ...(user.locale === null ? {} : { locale: user.locale }),
      ...(user.timezone === null ? {} : { zoneinfo: user.timezone }),
      updated_at: epochSeconds(user.updated_at),
      email: user.email,
      email_verified: user.email_verified,
    };
    const { client } = ctx.oidc;
    const reach = client && platformClient(client);
    return {
      accountId: id,
      claims: async (use, scope) => {
        // What changes from one moment to the next, and is long, is in no ID token.
        const isAsked = use === 'userinfo' && scope.split(' ').includes(ORGANIZATION_SCOPE);
        if (!isAsked || !of || !reach) return claims;
        return { ...claims, ...(await available(this.organizations.of(id, of, reach))) };
      },
    } satisfies Account;
  };
}
