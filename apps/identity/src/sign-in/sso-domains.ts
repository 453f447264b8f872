import { Inject, Injectable, Optional } from '@nestjs/common';
import { Database } from '@customer-platform/database';

/** The connection by which people with an address of its domains sign in. */
export interface ConnectionOfDomain {
  readonly connectionId: string;
  /** Whether they have no other way. */
  readonly enforced: boolean;
}

/** The way in by somebody else's provider. */
export interface SsoWay {
  forEmail(email: string): Promise<ConnectionOfDomain | undefined>;
  /** Where the browser goes; it comes back to `/oauth/sso/callback`. */
  begin(interactionUid: string, connectionId: string, loginHint?: string): Promise<string | URL>;
}

/** The injection token of {@link SsoWay}; without one there are no connections. */
export const SSO_WAY = Symbol('SSO_WAY');

/** An owner with a second factor keeps a way in for when the provider is away (identity.md §6). */
const KEEPS_PASSWORD = `
SELECT EXISTS (SELECT FROM mfa_factors f WHERE f.user_id = $1 AND f.confirmed_at IS NOT NULL)
   AND EXISTS (
     SELECT FROM memberships m
       JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
       JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.key = 'owner'
      WHERE m.user_id = $1 AND m.organization_id = $2) AS keeps`;

/** Which addresses belong to a provider of their organization's own. */
@Injectable()
export class SsoDomains {
  constructor(
    private readonly database: Database,
    @Optional() @Inject(SSO_WAY) private readonly way?: SsoWay,
  ) {}

  async forEmail(email: string): Promise<ConnectionOfDomain | undefined> {
    return this.way?.forEmail(email);
  }

  /** @throws Error where there is no connection */
  async begin(interactionUid: string, connectionId: string, email: string): Promise<string> {
    if (!this.way) throw new Error('There are no SSO connections');
    return String(await this.way.begin(interactionUid, connectionId, email));
  }

  /** Whether a user at home in the organization may not sign in by a password. */
  async refusesPasswordOf(user: { userId: string; organizationId: string; email: string }): Promise<boolean> {
    const connection = await this.forEmail(user.email);
    if (!connection?.enforced) return false;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ keeps: boolean }>(KEEPS_PASSWORD, [user.userId, user.organizationId]),
    );
    return row?.keeps !== true;
  }
}
