import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, Database, newId, pageOf, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Administrators } from '../memberships/administrators.js';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import type { RoleAssignmentDto } from './role-assignment.dto.js';

/** A membership has so many roles at most (identity.md §4). */
const MOST_ROLES = 20;

interface RoleAssignmentRow {
  id: string;
  membership_id: string;
  role_id: string;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, membership_id, role_id, created_at, updated_at';
const SELECT = `SELECT ${COLUMNS} FROM role_assignments WHERE organization_id = $1`;
/** Assignments to one membership take turns: of two at once neither misses the other in the count. */
const MEMBERSHIP = 'SELECT FROM memberships WHERE organization_id = $1 AND id = $2 FOR UPDATE';
const ASSIGNED = 'SELECT role_id FROM role_assignments WHERE organization_id = $1 AND membership_id = $2';
const MISSING = `
SELECT r.id FROM roles r
 WHERE r.organization_id = $1 AND r.id = ANY ($3::uuid[]) AND r.kind = 'human' AND r.deleted_at IS NULL
   AND NOT EXISTS (SELECT FROM role_assignments a
                    WHERE a.organization_id = r.organization_id AND a.membership_id = $2 AND a.role_id = r.id)
 ORDER BY array_position($3::uuid[], r.id) FOR SHARE OF r`;
const INSERT = `
INSERT INTO role_assignments (organization_id, id, membership_id, role_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $5) RETURNING ${COLUMNS}`;
const DELETE = `
DELETE FROM role_assignments
 WHERE organization_id = $1
   AND (id = $2 OR ($2::uuid IS NULL AND membership_id = $3 AND role_id = $4))
RETURNING ${COLUMNS}`;

/** A role and who is to have it. */
interface NewRoleAssignment {
  readonly membershipId: string;
  readonly roleId: string;
}

/** What names an assignment: its own id, or both that it joins. */
type RoleAssignmentKey = { readonly id: string } | NewRoleAssignment;

/** Which roles members have (identity.md §4). */
@Injectable()
export class RoleAssignmentsService {
  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly administrators: Administrators,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<RoleAssignmentDto>> {
    return this.database.inOrganization(context, (tx) =>
      pageOf<RoleAssignmentRow, RoleAssignmentDto>(tx, SELECT, query, {
        parameters: [context.organizationId],
        map: toRoleAssignmentDto,
      }),
    );
  }

  /**
   * @throws Problem `reference_not_found`, `reference_deleted`, `role_kind_mismatch`, `privilege_escalation`,
   *   `duplicate_value`, `limit_reached`
   */
  create(context: RequestContext, { membershipId, roleId }: NewRoleAssignment): Promise<RoleAssignmentDto> {
    return this.database.inOrganization(context, async (tx) => {
      const role = { id: roleId, kind: 'human', pointer: '/role_id' } as const;
      demandHeld(context, await this.grants.referenced(tx, role));
      const [membership] = await tx.query(MEMBERSHIP, [tx.organizationId, membershipId]);
      if (!membership) throw noMembership();
      return toRoleAssignmentDto(await this.assign(tx, context, { membershipId, roleId }));
    });
  }

  /** Gives a role that may be given to a membership whose lock `tx` holds. @throws Problem `duplicate_value`, `limit_reached` */
  async assign(
    tx: Transaction,
    context: AuditContext,
    { membershipId, roleId }: NewRoleAssignment,
  ): Promise<RoleAssignmentRow> {
    const assigned = await tx.query<{ role_id: string }>(ASSIGNED, [tx.organizationId, membershipId]);
    if (assigned.some(({ role_id: id }) => id === roleId)) throw alreadyAssigned();
    if (assigned.length >= MOST_ROLES) {
      const detail = `A membership has at most ${String(MOST_ROLES)} roles.`;
      throw new Problem('limit_reached', { detail, members: { limit: MOST_ROLES } });
    }
    const values = [tx.organizationId, newId(), membershipId, roleId, this.clock.now()];
    const [row] = await tx.query<RoleAssignmentRow>(INSERT, values);
    if (!row) throw new Error('An insert has answered no row');
    await this.record(tx, context, 'created', row);
    return row;
  }

  /**
   * Gives roles that may be given to a membership whose lock `tx` holds: those it has not, and of those only what is a
   * role for people still; where `fitting`, as many as there is room for. @throws Problem `limit_reached`
   */
  async assignMissing(
    tx: Transaction,
    context: AuditContext,
    {
      membershipId,
      roleIds,
      fitting = false,
    }: { readonly membershipId: string; readonly roleIds: readonly string[]; readonly fitting?: boolean },
  ): Promise<void> {
    const missing = await tx.query<{ id: string }>(MISSING, [tx.organizationId, membershipId, roleIds]);
    const assigned = fitting ? await tx.query(ASSIGNED, [tx.organizationId, membershipId]) : [];
    const given = fitting ? missing.slice(0, Math.max(0, MOST_ROLES - assigned.length)) : missing;
    for (const { id: roleId } of given) await this.assign(tx, context, { membershipId, roleId });
  }

  /** Takes a role away, within a second. @throws Problem `not_found`, `last_administrator` */
  end(context: RequestContext, key: RoleAssignmentKey): Promise<void> {
    const { organizationId } = context;
    const parts = 'id' in key ? [key.id, null, null] : [null, key.membershipId, key.roleId];
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      await this.administrators.keepingOne(tx, organizationId, async () => {
        const [row] = await tx.query<RoleAssignmentRow>(DELETE, [organizationId, ...parts]);
        if (!row) throw new Problem('not_found');
        await this.record(tx, context, 'ended', row);
      });
    });
  }

  private async record(
    tx: Transaction,
    context: AuditContext,
    verb: 'created' | 'ended',
    row: RoleAssignmentRow,
  ): Promise<void> {
    await this.audit.record(tx, context, {
      action: `identity.role_assignments.${verb === 'created' ? 'create' : 'delete'}`,
      resource: { type: 'role_assignments', id: row.id },
      changedFields: verb === 'created' ? ['membership_id', 'role_id'] : [],
    });
    const { id, membership_id, role_id } = row;
    await this.outbox.append(tx, {
      type: `identity.role_assignment.${verb}.v1`,
      organizationId: tx.organizationId,
      key: membership_id,
      subject: `role-assignments/${id}`,
      data: { organization_id: tx.organizationId, id, membership_id, role_id },
      correlationId: context.correlationId,
    });
  }
}

function noMembership(): Problem {
  const detail = 'The organization has no such membership.';
  const error = { pointer: '/membership_id', code: 'reference_not_found', detail } as const;
  return new Problem('reference_not_found', { detail, errors: [error] });
}

function alreadyAssigned(): Problem {
  const detail = 'The membership has this role already.';
  const error = { pointer: '/role_id', code: 'duplicate_value', detail } as const;
  return new Problem('duplicate_value', { detail, errors: [error] });
}

function toRoleAssignmentDto(row: RoleAssignmentRow): RoleAssignmentDto {
  return {
    id: row.id,
    membership_id: row.membership_id,
    role_id: row.role_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
