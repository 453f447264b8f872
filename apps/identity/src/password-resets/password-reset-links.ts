import { Injectable } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, Database } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';
import { PasswordResetTokens } from './password-reset-tokens.js';

/** Where the mail of a reset goes and what it says. */
export interface PasswordResetLink {
  readonly address: string;
  /** With a notice it leads nowhere, and is there for a reader that knows of none. */
  readonly link: string;
  readonly organization_name: string;
  /** The root: whose suppressions are the platform's own. */
  readonly platform_organization_id: string;
  /** The organization below the root: with whose mail it is counted. */
  readonly tenant_id: string;
  readonly locale: string;
  readonly expires_at: string;
  /** Instead of a link: that the person has no password here. */
  readonly notice?: 'single_sign_on';
  /** What it is sent for, where nobody asked for it. */
  readonly about?: 'wrong_passwords';
}

const OPEN = `
SELECT r.user_id, u.email, coalesce(r.locale, u.locale, o.locale) AS locale, r.generation, r.expires_at, r.about, o.name,
       o.path[1] AS platform_id, coalesce(o.path[2], o.path[1]) AS tenant_id
  FROM password_resets r
  JOIN users u ON u.id = r.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN organizations o ON o.organization_id = r.organization_id
 WHERE r.organization_id = $1 AND r.id = $2 AND r.open AND r.expires_at > $3`;

interface OpenRow {
  user_id: string;
  email: string;
  locale: string;
  generation: number;
  expires_at: Date;
  about: 'wrong_passwords' | null;
  name: string;
  platform_id: string;
  tenant_id: string;
}

/** The links of resets, made anew each time they are asked for. */
@Injectable()
export class PasswordResetLinks {
  constructor(
    private readonly database: Database,
    private readonly tokens: PasswordResetTokens,
    private readonly sso: SsoSignIn,
    private readonly clock: Clock,
  ) {}

  /** Of the newest token. @throws Problem `not_found` unless it may still be used */
  async get(organizationId: string, id: string): Promise<PasswordResetLink> {
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<OpenRow>(OPEN, [organizationId, id, this.clock.now()]),
    );
    if (!row) throw new Problem('not_found');
    const { user_id: userId, email, generation } = row;
    const isRefused = !(await this.sso.allowsPassword({ userId, email }));
    const { PUBLIC_URL } = readConfig(serviceConfig.pick({ PUBLIC_URL: true }));
    return {
      address: email,
      link: isRefused ? PUBLIC_URL : this.tokens.linkOf({ organizationId, id, generation }),
      ...(isRefused ? { notice: 'single_sign_on' as const } : {}),
      ...(row.about === null ? {} : { about: row.about }),
      organization_name: row.name,
      platform_organization_id: row.platform_id,
      tenant_id: row.tenant_id,
      locale: row.locale,
      expires_at: row.expires_at.toISOString(),
    };
  }
}
