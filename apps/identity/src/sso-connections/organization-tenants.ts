import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';

const TENANT = `SELECT coalesce(path[2], path[1]) AS tenant FROM organizations WHERE organization_id = $1`;
const MOST_KNOWN = 10_000;

/** The tenant of an organization, the one below the root that it belongs to: asked once, for it never changes. */
@Injectable()
export class OrganizationTenants {
  private readonly known = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /** Its own where there is no such organization. */
  async of(organizationId: string): Promise<string> {
    const known = this.known.get(organizationId);
    if (known !== undefined) return known;
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<{ tenant: string }>(TENANT, [organizationId]),
    );
    if (!row) return organizationId;
    const [oldest] = this.known.keys();
    if (this.known.size >= MOST_KNOWN && oldest !== undefined) this.known.delete(oldest);
    this.known.set(organizationId, row.tenant);
    return row.tenant;
  }
}
