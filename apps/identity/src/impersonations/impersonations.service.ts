import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { afterLocks, Clock, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { demandHeld } from '../vocabulary/escalation.js';
import { RoleGrants } from '../roles/role-grants.js';
import { AccessTokenIssuing } from '../sessions/access-token.issuing.js';
import { SessionEndings } from '../sessions/session-endings.js';
import type { ImpersonationDto, StartImpersonationDto } from './impersonation.dto.js';

/**
 * All are held until the impersonation is written, in the order in which they are locked where somebody is suspended or
 * a membership or session ended: who does that at this moment waits, and then finds it.
 */
const PEOPLE = `
SELECT u.id, u.status FROM users u
 WHERE u.deleted_at IS NULL
   AND (u.id = $2 OR u.id = $3 AND EXISTS (
     SELECT FROM memberships m WHERE m.organization_id = $1 AND m.user_id = u.id))
 ORDER BY u.id FOR SHARE OF u`;
const MEMBERSHIP = 'SELECT FROM memberships WHERE organization_id = $1 AND user_id = $2 FOR SHARE';
const SESSION = `
SELECT amr, authenticated_at, client_id, expires_at, least(expires_at, idle_expires_at) AS ends_at FROM sessions
 WHERE organization_id = $1 AND id = $2 AND user_id = $3 AND ended_at IS NULL FOR SHARE`;

const INSERT = `
INSERT INTO impersonations
  (organization_id, id, actor_id, actor_session_id, user_id, reason, client_id, amr, authenticated_at, ip, user_agent,
   expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;
const LOCK = `
SELECT user_id, ended_at FROM impersonations WHERE organization_id = $1 AND id = $2 FOR UPDATE`;

/** Who acts, and in which session of theirs. */
interface ActingSession {
  readonly userId: string;
  readonly id: string;
  readonly row: SessionRow;
}

interface SessionRow {
  amr: string[];
  authenticated_at: Date;
  client_id: string | null;
  expires_at: Date;
  ends_at: Date;
}

/** An impersonation as it was begun. */
interface Begun {
  readonly actor: ActingSession;
  readonly id: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Users who act as others (identity.md §6): by whom, as whom, why, and until when. */
@Injectable()
export class ImpersonationsService {
  constructor(
    private readonly database: Database,
    private readonly grants: RoleGrants,
    private readonly accessTokens: AccessTokenIssuing,
    private readonly endings: SessionEndings,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Whoever acts holds all that the user holds, also what the token does not give.
   * @throws Problem `user_required`, `validation_failed` for oneself, `mfa_required` outside of a session with a second
   *   factor, `reference_not_found`, `invalid_state` for a user who is not active, `privilege_escalation`
   */
  async start(context: RequestContext, body: StartImpersonationDto): Promise<ImpersonationDto> {
    const { organizationId, principal } = context;
    const userId = body.user_id.toLowerCase();
    if (userId === principal.id) throw oneself();
    // Before anything is written: a call with a key holds its connection from there on.
    await this.accessTokens.prepare();
    const begun = await this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const actor = await this.standing(tx, context, userId);
      return this.begin(tx, context, actor, { ...body, user_id: userId });
    });
    const { actor, id, now, expiresAt } = begun;
    const { amr, authenticated_at: authenticatedAt, client_id: clientId } = actor.row;
    const access_token = await this.accessTokens.issueImpersonation({
      id,
      organizationId,
      userId,
      authenticatedAt,
      amr,
      actorId: actor.userId,
      expiresAt,
      ...(clientId === null ? {} : { clientId }),
    });
    return {
      id,
      actor_id: actor.userId,
      user_id: userId,
      reason: body.reason,
      expires_at: expiresAt.toISOString(),
      created_at: now.toISOString(),
      access_token,
    };
  }

  /** Its token is refused within a second. @throws Problem `not_found` */
  async stop(context: RequestContext, id: string): Promise<void> {
    const { organizationId } = context;
    await this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(organizationId);
      const [row] = await tx.query<{ user_id: string; ended_at: Date | null }>(LOCK, [organizationId, id]);
      if (!row) throw new Problem('not_found');
      if (row.ended_at) return;
      const which = { userId: row.user_id, organizationId, only: id };
      await this.endings.endAll(tx, context, which, 'revoked');
      await this.audit.record(tx, context, {
        action: 'identity.impersonation.stop',
        resource: { type: 'impersonations', id },
        changedFields: ['status'],
      });
    });
  }

  /** That both stand as they must: who acts in a session with a second factor, as an active member who holds no more. */
  private async standing(
    tx: WorkerTransaction,
    context: RequestContext,
    userId: string,
  ): Promise<ActingSession> {
    const { organizationId, principal, sessionId } = context;
    if (principal.type !== 'user' || sessionId === undefined) throw new Problem('user_required');
    const people = await tx.query<{ id: string; status: string }>(PEOPLE, [
      organizationId,
      principal.id,
      userId,
    ]);
    const memberships = await tx.query(MEMBERSHIP, [organizationId, userId]);
    const locked = tx.query<SessionRow>(SESSION, [organizationId, sessionId, principal.id]);
    const [[row], now] = await afterLocks(this.clock, locked);
    if (!row || row.ends_at <= now) throw new Problem('invalid_token');
    if (!row.amr.includes('mfa')) throw needsSecondFactor();
    const user = people.find(({ id }) => id === userId);
    if (!user || memberships.length === 0) throw noMember();
    if (user.status !== 'active') throw notActive(user.status);
    demandHeld(context, await this.grants.heldBy(tx, userId));
    return { userId: principal.id, id: sessionId, row };
  }

  private async begin(
    tx: WorkerTransaction,
    context: RequestContext,
    actor: ActingSession,
    { user_id: userId, reason, expires_in: seconds }: StartImpersonationDto,
  ): Promise<Begun> {
    const { organizationId, correlationId, ip, userAgent } = context;
    const {
      amr,
      authenticated_at: authenticatedAt,
      client_id: clientId,
      expires_at: sessionEnds,
    } = actor.row;
    const id = newId();
    const now = this.clock.now();
    const expiresAt = new Date(Math.min(now.getTime() + seconds * 1_000, sessionEnds.getTime()));
    const how = [reason, clientId, amr, authenticatedAt, ip ?? null, userAgent ?? null];
    await tx.query(INSERT, [organizationId, id, actor.userId, actor.id, userId, ...how, expiresAt, now]);
    await this.audit.record(tx, context, {
      action: 'identity.impersonation.start',
      resource: { type: 'impersonations', id },
      changedFields: [userId],
      reason,
    });
    await this.outbox.append(tx, {
      type: 'identity.impersonation.started.v1',
      organizationId,
      key: id,
      subject: `impersonations/${id}`,
      data: {
        organization_id: organizationId,
        id,
        actor_id: actor.userId,
        user_id: userId,
        reason,
        expires_at: expiresAt.toISOString(),
      },
      correlationId,
    });
    return { actor, id, now, expiresAt };
  }
}

function needsSecondFactor(): Problem {
  return new Problem('mfa_required', { detail: 'Only a session with a second factor acts as another user.' });
}

function oneself(): Problem {
  const detail = 'Nobody acts as themselves.';
  return Problem.validation([{ pointer: '/user_id', code: 'not_allowed', detail }]);
}

function noMember(): Problem {
  const detail = 'The organization has no such member.';
  return new Problem('reference_not_found', {
    detail,
    errors: [{ pointer: '/user_id', code: 'reference_not_found', detail }],
  });
}

function notActive(status: string): Problem {
  return new Problem('invalid_state', { detail: `The user is ${status}.`, members: { state: status } });
}
