import { Injectable } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  newId,
  pageOf,
  postgresFailure,
  type Transaction,
} from '@customer-platform/database';
import { canonicalLocale, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import type { CreateInvitationDto, InvitationDto } from './invitation.dto.js';
import { InvitationJournal } from './invitation-journal.js';
import { asOf, INVITATION_COLUMNS, toInvitationDto, type InvitationRow } from './invitation.row.js';
import { keptAddress } from '../vocabulary/is-email-address.js';

/** So often in so long an invitation is sent again (identity.md §3). */
const MOST_RESENDS = 5;
const DAY_MS = 86_400_000;

const SELECT = `SELECT ${INVITATION_COLUMNS} FROM invitations WHERE organization_id = $1`;
/** Makes room for a new one to the same address. */
const EXPIRE = `
UPDATE invitations SET status = 'expired'
 WHERE organization_id = $1 AND lower(email) = $2 AND status = 'pending' AND expires_at <= now()`;
const INSERT = `
INSERT INTO invitations
  (organization_id, id, email, role_ids, locale, life_seconds, expires_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING ${INVITATION_COLUMNS}`;
const RENEW = `
UPDATE invitations
   SET status = 'pending', generation = generation + 1, expires_at = $3::timestamptz + life_seconds * interval '1 s',
       resent_at = $4, updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2 RETURNING ${INVITATION_COLUMNS}`;
const REVOKE = `
UPDATE invitations
   SET status = 'revoked', updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2 RETURNING ${INVITATION_COLUMNS}`;

/**
 * Invitations (identity.md §3). Inviting says nothing of the address: whether anybody has it is not looked at before
 * somebody accepts.
 */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly journal: InvitationJournal,
    private readonly clock: Clock,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<InvitationDto>> {
    return this.database.inOrganization(context, (tx) =>
      pageOf<InvitationRow, InvitationDto>(tx, SELECT, query, {
        parameters: [context.organizationId],
        map: toInvitationDto,
      }),
    );
  }

  /**
   * @throws Problem `reference_not_found`, `reference_deleted`, `role_kind_mismatch`, `privilege_escalation`,
   *   `duplicate_value` while one to the address is pending
   */
  create(context: RequestContext, body: CreateInvitationDto): Promise<InvitationDto> {
    const email = keptAddress(body.email);
    const roleIds = (body.role_ids ?? []).map((id) => id.toLowerCase());
    const { locale, expires_in: seconds } = body;
    return this.database.inOrganization(context, async (tx) => {
      demandHeld(context, await this.permissionsOf(tx, roleIds));
      await tx.query(EXPIRE, [tx.organizationId, email]);
      const now = this.clock.now();
      const expiresAt = new Date(now.getTime() + seconds * 1_000);
      const named = locale ? (canonicalLocale(locale) ?? locale) : null;
      const values = [tx.organizationId, newId(), email, roleIds, named, seconds, expiresAt, now];
      const row = await onlyPending(tx.query<InvitationRow>(INSERT, values));
      await this.journal.record(tx, context, 'created', row);
      return toInvitationDto(row);
    });
  }

  /**
   * Sends it again, with a new token and its whole time; the token before is dead. It gives its roles anew, so who
   * sends it holds their permissions.
   * @throws Problem `not_found`, `invalid_state`, `privilege_escalation`, `rate_limited`, `duplicate_value`
   */
  resend(context: RequestContext, id: string): Promise<InvitationDto> {
    return this.database.inOrganization(context, async (tx) => {
      const [invitation, now] = await this.lock(tx, id);
      if (invitation.status !== 'pending' && invitation.status !== 'expired') throw invalidState(invitation);
      const held = await this.grants.of(tx, invitation.role_ids);
      demandHeld(context, [...new Set([...held.values()].flat())]);
      const recent = invitation.resent_at.filter((at) => now.getTime() - at.getTime() < DAY_MS);
      demandRoom(recent, now);
      const values = [tx.organizationId, id, now, [...recent, now]];
      const row = await onlyPending(tx.query<InvitationRow>(RENEW, values));
      await this.journal.record(tx, context, 'resent', row);
      return toInvitationDto(row);
    });
  }

  /** Its token is dead. @throws Problem `not_found`, `invalid_state` for one that is not pending */
  async withdraw(context: RequestContext, id: string): Promise<void> {
    await this.database.inOrganization(context, async (tx) => {
      const [invitation, now] = await this.lock(tx, id);
      if (invitation.status !== 'pending') throw invalidState(invitation);
      const [row] = await tx.query<InvitationRow>(REVOKE, [tx.organizationId, id, now]);
      if (!row) throw new Problem('not_found');
      await this.journal.record(tx, context, 'revoked', row);
    });
  }

  private async permissionsOf(tx: Transaction, roleIds: readonly string[]): Promise<string[]> {
    const permissions = new Set<string>();
    for (const [at, id] of roleIds.entries()) {
      const reference = { id, kind: 'human', pointer: `/role_ids/${String(at)}` } as const;
      for (const permission of await this.grants.referenced(tx, reference)) permissions.add(permission);
    }
    return [...permissions];
  }

  private async lock(tx: Transaction, id: string): Promise<[invitation: InvitationRow, now: Date]> {
    const locked = tx.query<InvitationRow>(`${SELECT} AND id = $2 FOR UPDATE`, [tx.organizationId, id]);
    const [[row], now] = await afterLocks(this.clock, locked);
    if (!row) throw new Problem('not_found');
    return [asOf(row, now), now];
  }
}

/** The row written, unless another one to the address is pending. */
async function onlyPending(writing: Promise<InvitationRow[]>): Promise<InvitationRow> {
  const [row] = await writing.catch((error: unknown) => {
    if (postgresFailure(error)?.constraint === 'invitations_pending') throw alreadyInvited();
    throw error;
  });
  if (!row) throw new Error('A written invitation has answered no row');
  return row;
}

function alreadyInvited(): Problem {
  const detail = 'An invitation to this address is pending; send that one again.';
  return new Problem('duplicate_value', {
    detail,
    errors: [{ pointer: '/email', code: 'duplicate_value', detail }],
  });
}

function invalidState({ status }: InvitationRow): Problem {
  return new Problem('invalid_state', {
    detail: `The invitation is ${status}.`,
    members: { state: status },
  });
}

function demandRoom(recent: readonly Date[], now: Date): void {
  const [oldest] = recent;
  if (!oldest || recent.length < MOST_RESENDS) return;
  const left = Math.ceil((oldest.getTime() + DAY_MS - now.getTime()) / 1_000);
  throw new Problem('rate_limited', {
    detail: `It was sent again ${String(MOST_RESENDS)} times within a day; try again in ${String(left)} s.`,
    headers: { 'Retry-After': String(left) },
    members: { scope: 'invitation' },
  });
}
