import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, pageOfSelects, type WorkerTransaction } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { deviceOf } from './device.js';
import type { EndedReason, SessionDto } from './session.dto.js';
import { OwnSession } from './own-session.js';
import { SessionEndings } from './session-endings.js';

interface SessionRow {
  id: string;
  user_id: string;
  client_id: string | null;
  amr: string[];
  authenticated_at: Date;
  last_seen_at: Date;
  idle_expires_at: Date;
  expires_at: Date;
  ip: string | null;
  user_agent: string | null;
  status: SessionDto['status'];
  ended_at: Date | null;
  ended_reason: EndedReason | null;
  created_at: Date;
  actor_id: string | null;
  reason: string | null;
}

/** One that nobody uses has ended by itself, whether it is written down yet or not. */
const SESSIONS = `
SELECT id, user_id, client_id, amr, authenticated_at, last_seen_at, idle_expires_at, expires_at, ip, user_agent,
       CASE WHEN ended_at IS NULL AND least(idle_expires_at, expires_at) > now() THEN 'active' ELSE 'ended' END
         AS status,
       coalesce(ended_at, CASE WHEN least(idle_expires_at, expires_at) <= now()
                               THEN least(idle_expires_at, expires_at) END) AS ended_at,
       coalesce(ended_reason, CASE WHEN expires_at <= least(now(), idle_expires_at) THEN 'absolute'
                                   WHEN idle_expires_at <= now() THEN 'idle' END) AS ended_reason,
       created_at, NULL::uuid AS actor_id, NULL::text AS reason
  FROM sessions WHERE organization_id = $1 AND ($2 OR user_id = $3)`;
const IMPERSONATIONS = `
SELECT id, user_id, client_id, amr, authenticated_at, created_at AS last_seen_at, expires_at AS idle_expires_at,
       expires_at, ip, user_agent,
       CASE WHEN ended_at IS NULL AND expires_at > now() THEN 'active' ELSE 'ended' END AS status,
       coalesce(ended_at, CASE WHEN expires_at <= now() THEN expires_at END) AS ended_at,
       coalesce(ended_reason, CASE WHEN expires_at <= now() THEN 'absolute' END) AS ended_reason,
       created_at, actor_id, reason
  FROM impersonations WHERE organization_id = $1 AND ($2 OR user_id = $3)`;

const lockOf = (table: string): string => `
SELECT user_id, ended_at FROM ${table}
 WHERE organization_id = $1 AND ($2 OR user_id = $3) AND id = $4 FOR UPDATE`;
/** No id is of both; by which resource the audit log knows it. */
const KINDS = ['sessions', 'impersonations'].map((resource) => ({ resource, lock: lockOf(resource) }));

/**
 * Sessions of users (identity.md §5), and with them who acts as the user. One sees and ends one's own; those of others only who may change users: to
 * everybody else they do not exist.
 */
@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly endings: SessionEndings,
    private readonly own: OwnSession,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  list(context: RequestContext, query: ListQuery): Promise<Page<SessionDto>> {
    return this.database.inOrganization(context, (tx) =>
      pageOfSelects<SessionRow, SessionDto>(tx, [SESSIONS, IMPERSONATIONS], query, {
        parameters: reachOf(context),
        map: (row) => toSessionDto(row, context.sessionId),
      }),
    );
  }

  /**
   * Its tokens are refused within a second. One that has ended stays as it is.
   * @throws Problem `not_found`, `fresh_sign_in_required` for another of one's own
   */
  revoke(context: RequestContext, id: string): Promise<void> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.useOrganization(context.organizationId);
      const row = await lock(tx, [...reachOf(context), id]);
      if (!row) throw new Problem('not_found');
      if (row.ended_at) return;
      const { organizationId, principal } = context;
      const isOther = row.user_id === principal.id && id.toLowerCase() !== context.sessionId;
      if (isOther && row.resource === 'sessions') await this.own.demandFresh(tx, context);
      await this.endings.endAll(tx, context, { userId: row.user_id, organizationId, only: id }, 'revoked');
      await this.audit.record(tx, context, {
        action: 'identity.sessions.revoke',
        resource: { type: row.resource, id },
        changedFields: ['status'],
      });
    });
  }
}

interface LockedRow {
  readonly user_id: string;
  readonly ended_at: Date | null;
}

/** The session, or the impersonation, that the values name. */
async function lock(
  tx: WorkerTransaction,
  values: readonly unknown[],
): Promise<(LockedRow & { readonly resource: string }) | undefined> {
  for (const { resource, lock: statement } of KINDS) {
    const [row] = await tx.query<LockedRow>(statement, [...values]);
    if (row) return { ...row, resource };
  }
  return undefined;
}

/** `$1` the organization, `$2` whether all of it, `$3` whose else. */
function reachOf(context: RequestContext): [string, boolean, string | null] {
  const { principal } = context;
  return [
    context.organizationId,
    context.can('identity.users.update'),
    principal.type === 'user' ? principal.id : null,
  ];
}

function toSessionDto(row: SessionRow, current: string | undefined): SessionDto {
  return {
    id: row.id,
    user_id: row.user_id,
    client_id: row.client_id,
    amr: row.amr,
    authenticated_at: row.authenticated_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    idle_expires_at: row.idle_expires_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ip: row.ip,
    user_agent: row.user_agent,
    device: deviceOf(row.user_agent),
    current: row.id === current,
    status: row.status,
    ended_reason: row.ended_reason,
    ended_at: row.ended_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    impersonation:
      row.actor_id === null || row.reason === null ? null : { actor_id: row.actor_id, reason: row.reason },
  };
}
