import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { InvitationTokens } from './invitation-tokens.js';

/** Where an invitation goes and what it says. */
export interface InvitationLink {
  readonly address: string;
  readonly link: string;
  readonly organization_name: string;
  /** The root: whose suppressions are the platform's own. */
  readonly platform_organization_id: string;
  /** The organization below the root: with whose mail it is counted. */
  readonly tenant_id: string;
}

const PENDING = `
SELECT i.email, i.generation, o.name, o.path[1] AS platform_id,
       coalesce(o.path[2], o.path[1]) AS tenant_id
  FROM invitations i JOIN organizations o ON o.organization_id = i.organization_id AND o.deleted_at IS NULL
 WHERE i.organization_id = $1 AND i.id = $2 AND i.status = 'pending' AND i.expires_at > now()`;

interface PendingRow {
  email: string;
  generation: number;
  name: string;
  platform_id: string;
  tenant_id: string;
}

/** The links of invitations, made anew each time they are asked for. */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly database: Database,
    private readonly tokens: InvitationTokens,
  ) {}

  /** Of the newest token. @throws Problem `not_found` unless the invitation is pending */
  async get(organizationId: string, id: string): Promise<InvitationLink> {
    const [row] = await this.database.inOrganization({ organizationId }, (tx) =>
      tx.query<PendingRow>(PENDING, [organizationId, id]),
    );
    if (!row) throw new Problem('not_found');
    const link = this.tokens.linkOf({ organizationId, id, generation: row.generation });
    return {
      address: row.email,
      link,
      organization_name: row.name,
      platform_organization_id: row.platform_id,
      tenant_id: row.tenant_id,
    };
  }
}
