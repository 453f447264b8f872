import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { permissionsOf } from '../roles/role-grants.js';
import { withinScopes } from '../vocabulary/api-scopes.js';
import { NO_BRANDING, type Branding } from '../vocabulary/organizations/branding.js';
import { restrictionOf } from '../vocabulary/restriction.js';
import type { GrantOf } from './grant-id.js';
import { OrganizationChoice, type NamedOrganization, type Reach } from './organization-choice.js';

/** What it tells is asked for beside the scope of this name, at userinfo alone. */
export const ORGANIZATION_SCOPE = 'organization';

/** The claims of that scope. */
export const ORGANIZATION_CLAIMS = [
  'organization',
  'organizations',
  'more_organizations',
  'permissions',
  'restriction',
] as const;

/** What a session lets its user do, of one snapshot: $1 the organization, $2 the session, $3 the user. */
const STANDING = `
SELECT o.organization_id AS id, o.name, o.slug, o.locale, o.timezone, o.settings -> 'branding' AS branding, o.status,
       coalesce(o.settings ->> 'mfa_policy', 'optional') = 'required' AND NOT 'mfa' = ANY (s.amr) AS lacks_mfa,
       s.api_scopes, ${permissionsOf('m')} AS permissions
  FROM sessions s
  JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
  JOIN organizations o ON o.organization_id = s.organization_id AND o.deleted_at IS NULL
 WHERE s.organization_id = $1 AND s.id = $2 AND s.user_id = $3 AND s.ended_at IS NULL`;

interface StandingRow extends NamedOrganization {
  readonly locale: string;
  readonly timezone: string;
  readonly branding: Partial<Branding> | null;
  readonly status: 'active' | 'suspended';
  readonly lacks_mfa: boolean;
  readonly permissions: string[];
  readonly api_scopes: string[] | null;
}

/** Where a user is and what the user may do there, as a client's own pages need to know it (identity.md §7). */
export interface OrganizationClaimsDto {
  readonly organization: NamedOrganization & {
    readonly locale: string;
    readonly timezone: string;
    readonly branding: Branding;
  };
  /** Where the user can act by the client, by name. */
  readonly organizations: readonly NamedOrganization[];
  /** Whether there are more than are named. */
  readonly more_organizations: boolean;
  /** Of all roles, in order, as far as the session's scopes let the client use them; what holds them back is the restriction. */
  readonly permissions: readonly string[];
  readonly restriction: ReturnType<typeof restrictionOf>;
}

/** What the scope `organization` tells. */
@Injectable()
export class OrganizationClaims {
  constructor(
    private readonly database: Database,
    private readonly choice: OrganizationChoice,
  ) {}

  /** Undefined once the session has ended. */
  async of(userId: string, session: GrantOf, reach: Reach): Promise<OrganizationClaimsDto | undefined> {
    const { organizationId, sessionId } = session;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.prepared<StandingRow>(STANDING, [organizationId, sessionId, userId]),
    );
    if (!row) return undefined;
    const { id, name, slug, locale, timezone, branding, permissions } = row;
    const { named, more } = await this.choice.all(userId, reach);
    return {
      organization: { id, name, slug, locale, timezone, branding: { ...NO_BRANDING, ...branding } },
      organizations: named,
      more_organizations: more,
      permissions: withinScopes(permissions, row.api_scopes),
      restriction: restrictionOf(row),
    };
  }
}
