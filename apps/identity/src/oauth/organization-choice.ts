import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { PlatformClient } from './client-metadata.js';

const OPEN = `
SELECT o.organization_id AS id
  FROM memberships m
  JOIN users u ON u.id = m.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN organizations o ON o.organization_id = m.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE m.user_id = $1 AND (o.organization_id = $2 OR ($3 AND o.path @> ARRAY[$2::uuid]))`;
const SOME = `${OPEN} LIMIT 2`;
const NAMED = `${OPEN} AND (o.organization_id::text = lower($4) OR o.slug = $4)`;

/** What a request may name an organization by is no longer. */
const NAME_LENGTH = 100;

/** Where a user can act by a client: where the user is a member, and the client serves people. */
@Injectable()
export class OrganizationChoice {
  constructor(private readonly database: Database) {}

  /** None, the only one, or two of several. */
  some(userId: string, client: PlatformClient): Promise<string[]> {
    return this.ids(SOME, userId, client);
  }

  /** The one with that id or slug; undefined where the user cannot act in it. */
  async named(userId: string, client: PlatformClient, name: string): Promise<string | undefined> {
    if (name.length > NAME_LENGTH) return undefined;
    const [id] = await this.ids(NAMED, userId, client, name);
    return id;
  }

  private async ids(
    statement: string,
    userId: string,
    { organizationId, organizations }: PlatformClient,
    ...further: string[]
  ): Promise<string[]> {
    const values = [userId, organizationId, organizations === 'tree', ...further];
    const rows = await this.database.acrossOrganizations((tx) => tx.query<{ id: string }>(statement, values));
    return rows.map(({ id }) => id);
  }
}
