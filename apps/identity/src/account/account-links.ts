import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Database } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';

/** The recipient and the words of a mail about an account. */
export interface AccountLink {
  readonly address: string;
  /** The page that asks for a new password, without any token; null of whom no password lets in. */
  readonly link: string | null;
  readonly organization_name: string;
  /** The root: whose suppressions are the platform's own. */
  readonly platform_organization_id: string;
  /** The organization below the root: with whose mail it is counted. */
  readonly tenant_id: string;
  readonly locale: string;
}

/** Whoever is only written down has no account, and an address that nobody has proven. */
const WHOSE = `
SELECT u.email, coalesce(u.locale, o.locale) AS locale, o.name, o.path[1] AS platform_id,
       coalesce(o.path[2], o.path[1]) AS tenant_id
  FROM users u JOIN organizations o ON o.organization_id = $1
 WHERE u.id = $2 AND u.status <> 'invited' AND u.deleted_at IS NULL`;

interface AccountRow {
  email: string;
  locale: string;
  name: string;
  platform_id: string;
  tenant_id: string;
}

/** Says where people are told what has become of their accounts. */
@Injectable()
export class AccountLinks {
  constructor(
    private readonly database: Database,
    private readonly sso: SsoSignIn,
  ) {}

  /** Answers for a user, as the organization in which it happened writes. @throws Problem `not_found` of who has no account */
  async get(organizationId: string, userId: string): Promise<AccountLink> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<AccountRow>(WHOSE, [organizationId, userId]),
    );
    if (!row) throw new Problem('not_found');
    const { email } = row;
    const { PUBLIC_URL } = readConfig(serviceConfig.pick({ PUBLIC_URL: true }));
    const opens = await this.sso.allowsPassword({ userId, email });
    return {
      address: email,
      link: opens ? new URL('/oauth/password-reset/request', PUBLIC_URL).href : null,
      organization_name: row.name,
      platform_organization_id: row.platform_id,
      tenant_id: row.tenant_id,
      locale: row.locale,
    };
  }
}
