import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';

/** So many are offered on one page; of more one searches. */
const MOST_OFFERED = 30;

/** An organization that a user may act in by a client. */
export interface OpenOrganization {
  readonly id: string;
  readonly name: string;
  /** Whether its policy asks for a second factor. */
  readonly demandsMfa: boolean;
}

interface OrganizationRow {
  organization_id: string;
  name: string;
  demands_mfa: boolean;
}

/** Whose people a client serves: its organization's, or those of all below as well (identity.md §6). */
export interface Reach {
  readonly organizationId: string;
  readonly organizations: 'own' | 'tree';
}

const OPEN = `
SELECT o.organization_id, o.name, coalesce(o.settings ->> 'mfa_policy', 'optional') = 'required' AS demands_mfa
  FROM memberships m
  JOIN organizations o ON o.organization_id = m.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
 WHERE m.user_id = $1 AND ($3 AND $2::uuid = ANY (o.path) OR o.organization_id = $2)`;
const OFFERED = `${OPEN} AND lower(left(o.name, char_length($4))) = lower($4)
 ORDER BY lower(o.name), o.organization_id LIMIT ${String(MOST_OFFERED + 1)}`;
const NAMED = `${OPEN} AND (o.organization_id::text = lower($4) OR o.slug = $4)`;
const NAME = 'SELECT name FROM organizations WHERE organization_id = $1';

/** In which organizations a user may act by a client (identity.md §7). */
@Injectable()
export class SignInOrganizations {
  constructor(private readonly database: Database) {}

  /** By name, as far as one page goes. */
  async offered(
    userId: string,
    reach: Reach,
    search = '',
  ): Promise<{ choices: OpenOrganization[]; more: boolean }> {
    const rows = await this.query(OFFERED, userId, reach, search);
    return { choices: rows.slice(0, MOST_OFFERED).map(toOpen), more: rows.length > MOST_OFFERED };
  }

  /** The one with that id or slug; undefined where the user may not act in it. */
  async named(userId: string, reach: Reach, idOrSlug: string): Promise<OpenOrganization | undefined> {
    const [row] = await this.query(NAMED, userId, reach, idOrSlug.slice(0, 100));
    return row && toOpen(row);
  }

  /** What an organization is called; of one that is gone, nothing. */
  async nameOf(organizationId: string): Promise<string> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ name: string }>(NAME, [organizationId]),
    );
    return row?.name ?? '';
  }

  private query(
    statement: string,
    userId: string,
    { organizationId, organizations }: Reach,
    text: string,
  ): Promise<OrganizationRow[]> {
    return this.database.acrossOrganizations((tx) =>
      tx.query<OrganizationRow>(statement, [userId, organizationId, organizations === 'tree', text]),
    );
  }
}

function toOpen({ organization_id: id, name, demands_mfa: demandsMfa }: OrganizationRow): OpenOrganization {
  return { id, name, demandsMfa };
}
