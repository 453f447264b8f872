import { Injectable } from '@nestjs/common';
import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import { domainName } from '../vocabulary/domain-name.js';
import type { SsoConnection } from './sso-connection.entity.js';

const OWNERS = `SELECT id FROM roles WHERE organization_id = $1 AND id = ANY ($2::uuid[]) AND key = 'owner'`;
/** As they are written: an address may have its domain in other letters than the connection has. */
const DOMAINS = `
SELECT DISTINCT regexp_replace(u.email, '^.*@', '') AS domain
  FROM memberships m JOIN users u ON u.id = m.user_id AND u.deleted_at IS NULL
 WHERE m.organization_id = $1`;
/** All that those may do here as whom the provider could let somebody in. */
const OF_PEOPLE = `
SELECT DISTINCT coalesce(b.permission, p.permission) AS permission
  FROM users u
  JOIN memberships m ON m.organization_id = $1 AND m.user_id = u.id
  JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
  JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.deleted_at IS NULL
  LEFT JOIN built_in_permissions b ON b.key = r.key AND b.kind = r.kind
  LEFT JOIN role_permissions p
    ON r.key IS NULL AND p.organization_id = r.organization_id AND p.role_id = r.id AND p.removed_at IS NULL
 WHERE u.deleted_at IS NULL AND regexp_replace(u.email, '^.*@', '') = ANY ($2::text[])
   AND coalesce(b.permission, p.permission) IS NOT NULL`;

/**
 * What a connection gives (identity.md §1): its roles to those who come for the first time and, once it is active, the
 * rights of everybody of its domains, as whom its provider can let in whomever it wants to.
 */
@Injectable()
export class SsoReach {
  constructor(private readonly grants: RoleGrants) {}

  /**
   * That the caller holds what the connection gives new members.
   * @throws Problem `privilege_escalation`, `reference_not_found`, `reference_deleted`, `role_kind_mismatch`,
   *   `validation_failed` for `owner`
   */
  async demandRoles(tx: Transaction, context: RequestContext, roleIds: readonly string[]): Promise<void> {
    const owners = await tx.query<{ id: string }>(OWNERS, [tx.organizationId, roleIds]);
    const [owner] = owners;
    if (owner) {
      const pointer = `/jit_role_ids/${String(roleIds.indexOf(owner.id))}`;
      const detail = 'Nobody becomes an owner by signing in.';
      throw Problem.validation([{ pointer, code: 'not_allowed', detail }]);
    }
    for (const [at, id] of roleIds.entries()) {
      const pointer = `/jit_role_ids/${String(at)}`;
      demandHeld(context, await this.grants.referenced(tx, { id, kind: 'human', pointer }));
    }
  }

  /** That the caller holds what an active connection lets do. @throws Problem `privilege_escalation` */
  async demandPeople(
    tx: WorkerTransaction,
    context: RequestContext,
    { domains, jitRoleIds }: Pick<SsoConnection, 'domains' | 'jitRoleIds'>,
  ): Promise<void> {
    const written = await tx.query<{ domain: string }>(DOMAINS, [tx.organizationId]);
    const own = written
      .map(({ domain }) => domain)
      .filter((each) => domains.includes(domainName(each) ?? ''));
    const rows = await tx.query<{ permission: string }>(OF_PEOPLE, [tx.organizationId, own]);
    const roles = await this.grants.of(tx, jitRoleIds);
    demandHeld(context, [
      ...new Set([...rows.map(({ permission }) => permission), ...[...roles.values()].flat()]),
    ]);
  }
}
