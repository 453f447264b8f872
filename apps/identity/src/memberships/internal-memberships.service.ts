import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { MembershipState } from './internal-memberships.dto.js';

const STATE = `
  SELECT users.deleted_at IS NOT NULL AS deleted
    FROM memberships JOIN users ON users.id = memberships.user_id
   WHERE memberships.organization_id = $1 AND memberships.user_id = $2`;

const ADDRESS = `
  SELECT users.email
    FROM memberships JOIN users ON users.id = memberships.user_id
   WHERE memberships.organization_id = $1 AND memberships.user_id = $2 AND users.deleted_at IS NULL`;

/** What other modules ask before they name a user as a member (the public contract, "Additions"). */
@Injectable()
export class InternalMembershipsService {
  constructor(private readonly database: Database) {}

  /** Another organization's users and those that do not exist are alike: `none`. */
  async stateOf(organizationId: string, userId: string): Promise<MembershipState> {
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<{ deleted: boolean }>(STATE, [organizationId, userId]),
    );
    if (!row) return 'none';
    return row.deleted ? 'deleted' : 'member';
  }

  /** Where a member is written to; null of whoever is none. */
  async addressOf(organizationId: string, userId: string): Promise<string | null> {
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<{ email: string }>(ADDRESS, [organizationId, userId]),
    );
    return row?.email ?? null;
  }
}
