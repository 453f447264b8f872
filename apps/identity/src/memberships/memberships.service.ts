import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import {
  Clock,
  Database,
  newId,
  pageOf,
  postgresFailure,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { SessionEndings } from '../sessions/session-endings.js';
import { Administrators } from './administrators.js';
import type { MembershipDto } from './membership.dto.js';

interface MembershipRow {
  id: string;
  user_id: string;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, user_id, created_at, updated_at';
const SELECT = `SELECT ${COLUMNS} FROM memberships WHERE organization_id = $1`;
const USER = `SELECT deleted_at IS NOT NULL AS deleted FROM users WHERE id = $1 FOR SHARE`;
const INSERT = `
INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
RETURNING ${COLUMNS}`;
const LOCK = `${SELECT} AND ($2::uuid IS NULL OR id = $2) AND ($3::uuid IS NULL OR user_id = $3) FOR UPDATE`;
const ASSIGNMENTS = `
DELETE FROM role_assignments WHERE organization_id = $1 AND membership_id = $2 RETURNING id, role_id`;
const DELETE = 'DELETE FROM memberships WHERE organization_id = $1 AND id = $2';
const ELSEWHERE = `
SELECT organization_id, ${COLUMNS} FROM memberships WHERE user_id = $2 AND organization_id <> $1
 ORDER BY organization_id FOR UPDATE`;

/** What names a membership: its own id, or its user. */
type MembershipKey = { readonly id: string } | { readonly userId: string };

/** Who belongs to an organization (identity.md §3). What ends, ends for good: a new one begins without roles. */
@Injectable()
export class MembershipsService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionEndings,
    private readonly administrators: Administrators,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<MembershipDto>> {
    return this.database.inOrganization(context, (tx) =>
      pageOf<MembershipRow, MembershipDto>(tx, SELECT, query, {
        parameters: [context.organizationId],
        map: toMembershipDto,
      }),
    );
  }

  /** @throws Problem `reference_not_found`, `reference_deleted`, `duplicate_value` for a member */
  create(context: RequestContext, userId: string): Promise<MembershipDto> {
    return this.database.inOrganization(context, async (tx) => {
      const [user] = await tx.query<{ deleted: boolean }>(USER, [userId]);
      if (!user) throw badUser('reference_not_found', 'The organization sees no such user; invite them.');
      if (user.deleted) throw badUser('reference_deleted', 'The user is deleted.');
      return toMembershipDto(await this.join(tx, context, userId));
    });
  }

  /** Makes a user a member, whatever the organization sees of them. @throws Problem `duplicate_value` */
  async join(tx: Transaction, context: AuditContext, userId: string): Promise<MembershipRow> {
    const id = newId();
    const [row] = await tx
      .query<MembershipRow>(INSERT, [tx.organizationId, id, userId, this.clock.now()])
      .catch((error: unknown) => {
        if (postgresFailure(error)?.constraint === 'memberships_one_each') throw alreadyMember();
        throw error;
      });
    if (!row) throw new Error('An insert has answered no row');
    await this.audit.record(tx, context, {
      action: 'identity.memberships.create',
      resource: { type: 'memberships', id },
      changedFields: ['user_id'],
    });
    await this.tell(tx, context, 'created', row);
    return row;
  }

  /** The id of the user's membership, made where there is none, which `tx` holds the lock of. */
  async joined(tx: Transaction, context: AuditContext, userId: string): Promise<string> {
    const [row] = await tx.query<MembershipRow>(LOCK, [tx.organizationId, null, userId]);
    return (row ?? (await this.join(tx, context, userId))).id;
  }

  /** Ends its role assignments and sessions too. @throws Problem `not_found`, `last_administrator` */
  end(context: RequestContext, key: MembershipKey): Promise<void> {
    const { organizationId } = context;
    const [id, userId] = 'id' in key ? [key.id, null] : [null, key.userId];
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      await this.administrators.keepingOne(tx, organizationId, async () => {
        const [row] = await tx.query<MembershipRow>(LOCK, [organizationId, id, userId]);
        if (!row) throw new Problem('not_found');
        await this.endRow(tx, context, row);
      });
    });
  }

  /**
   * Ends what other organizations wrote down for somebody who had accepted nothing yet and now joins this one: nobody
   * is a member but by their own acceptance, and one who never accepted must not tie the home's hands (identity.md §3).
   */
  async endElsewhere(tx: WorkerTransaction, context: AuditContext, userId: string): Promise<void> {
    const { organizationId } = tx;
    const rows = await tx.query<MembershipRow & { organization_id: string }>(ELSEWHERE, [
      organizationId,
      userId,
    ]);
    for (const row of rows) {
      await tx.useOrganization(row.organization_id);
      await this.endRow(tx, { ...context, organizationId: row.organization_id }, row);
    }
    await tx.useOrganization(organizationId);
  }

  private async endRow(tx: WorkerTransaction, context: AuditContext, row: MembershipRow): Promise<void> {
    const { organizationId } = context;
    const ended = await tx.query<{ id: string; role_id: string }>(ASSIGNMENTS, [organizationId, row.id]);
    await tx.query(DELETE, [organizationId, row.id]);
    await this.sessions.endAll(tx, context, { userId: row.user_id, organizationId }, 'membership_ended');
    await this.audit.record(tx, context, {
      action: 'identity.memberships.delete',
      resource: { type: 'memberships', id: row.id },
      changedFields: [],
    });
    await this.outbox.append(
      tx,
      ended.map((assignment) => ({
        type: 'identity.role_assignment.ended.v1' as const,
        organizationId,
        key: row.id,
        subject: `role-assignments/${assignment.id}`,
        data: {
          organization_id: organizationId,
          id: assignment.id,
          membership_id: row.id,
          role_id: assignment.role_id,
        },
        correlationId: context.correlationId,
      })),
    );
    await this.tell(tx, context, 'ended', row);
  }

  private async tell(
    tx: Transaction,
    context: AuditContext,
    verb: 'created' | 'ended',
    { id, user_id }: MembershipRow,
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: `identity.membership.${verb}.v1`,
      organizationId: tx.organizationId,
      key: user_id,
      subject: `memberships/${id}`,
      data: { organization_id: tx.organizationId, id, user_id },
      correlationId: context.correlationId,
    });
  }
}

function badUser(code: 'reference_not_found' | 'reference_deleted', detail: string): Problem {
  return new Problem(code, { detail, errors: [{ pointer: '/user_id', code, detail }] });
}

function alreadyMember(): Problem {
  const detail = 'The user is a member already.';
  return new Problem('duplicate_value', {
    detail,
    errors: [{ pointer: '/user_id', code: 'duplicate_value', detail }],
  });
}

function toMembershipDto(row: MembershipRow): MembershipDto {
  return {
    id: row.id,
    user_id: row.user_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
