import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Clock, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { domainOf } from '../vocabulary/domain-name.js';
import type { EndedReason } from './session.dto.js';

/** Which sessions: a user's, in one organization only or everywhere. */
interface SessionsOf {
  readonly userId: string;
  readonly organizationId?: string;
  /** That one goes on. */
  readonly except?: string;
  /** That one alone. */
  readonly only?: string;
}

const END = `
UPDATE sessions SET ended_at = $5, ended_reason = $6
 WHERE user_id = $1 AND ($2::uuid IS NULL OR organization_id = $2) AND id IS DISTINCT FROM $3::uuid
   AND ($4::uuid IS NULL OR id = $4)
   AND ended_at IS NULL
RETURNING organization_id, id, user_id`;
/** Those as the user: they are sessions of the user's, which somebody else is in. */
const END_AS_USER = `
UPDATE impersonations SET ended_at = $5, ended_reason = $6
 WHERE user_id = $1 AND ($2::uuid IS NULL OR organization_id = $2) AND id IS DISTINCT FROM $3::uuid
   AND ($4::uuid IS NULL OR id = $4)
   AND ended_at IS NULL
RETURNING organization_id, id, actor_id, user_id, reason, expires_at`;
/** Those that were begun in a session that has ended. */
const END_BEGUN_IN = `
UPDATE impersonations SET ended_at = $2, ended_reason = $3
 WHERE actor_session_id = ANY ($1::uuid[]) AND ended_at IS NULL
RETURNING organization_id, id, actor_id, user_id, reason, expires_at`;
const USERS_OF_CONNECTION = `
SELECT DISTINCT u.id, u.email FROM sessions s JOIN users u ON u.id = s.user_id
 WHERE s.connection_id = $1 AND s.ended_at IS NULL`;
const END_OF_CONNECTION = `
UPDATE sessions SET ended_at = $3, ended_reason = 'revoked'
 WHERE connection_id = $1 AND user_id = ANY ($2::uuid[]) AND ended_at IS NULL
RETURNING organization_id, id, user_id`;

interface EndedRow {
  readonly organization_id: string;
  readonly id: string;
  readonly user_id: string;
}

interface StoppedRow {
  readonly organization_id: string;
  readonly id: string;
  readonly actor_id: string;
  readonly user_id: string;
  readonly reason: string;
  readonly expires_at: Date;
}

/** Ends sessions, and impersonations with them, each with its event in the caller's transaction. */
@Injectable()
export class SessionEndings {
  constructor(
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Their tokens are refused within a second. */
  async endAll(
    tx: WorkerTransaction,
    context: AuditContext,
    { userId, organizationId, except, only }: SessionsOf,
    reason: EndedReason,
  ): Promise<void> {
    const which = [
      userId,
      organizationId ?? null,
      except ?? null,
      only ?? null,
      this.clock.now(),
      reason,
    ] as const;
    await this.ended(tx, context, await tx.query<EndedRow>(END, [...which]), reason);
    await this.tellStopped(tx, context, await tx.query<StoppedRow>(END_AS_USER, [...which]));
  }

  /** Ends what an SSO connection has begun, wherever, save for people with addresses of the domains that it keeps. */
  async endOfConnection(
    tx: WorkerTransaction,
    context: AuditContext,
    connectionId: string,
    kept: readonly string[] = [],
  ): Promise<void> {
    const users = await tx.query<{ id: string; email: string }>(USERS_OF_CONNECTION, [connectionId]);
    const ids = users.filter(({ email }) => !kept.includes(domainOf(email) ?? '')).map(({ id }) => id);
    const rows = await tx.query<EndedRow>(END_OF_CONNECTION, [connectionId, ids, this.clock.now()]);
    await this.ended(tx, context, rows, 'revoked');
  }

  /** With a session ends whatever its user began in it as somebody else. */
  private async ended(
    tx: WorkerTransaction,
    context: AuditContext,
    rows: readonly EndedRow[],
    reason: EndedReason,
  ): Promise<void> {
    await this.tell(tx, context, rows, reason);
    if (rows.length === 0) return;
    const values = [rows.map(({ id }) => id), this.clock.now(), reason];
    await this.tellStopped(tx, context, await tx.query<StoppedRow>(END_BEGUN_IN, values));
  }

  private async tell(
    tx: WorkerTransaction,
    context: AuditContext,
    rows: readonly EndedRow[],
    reason: EndedReason,
  ): Promise<void> {
    await this.outbox.append(
      tx,
      rows.map(({ organization_id, id, user_id }) => ({
        type: 'identity.session.ended.v1' as const,
        organizationId: organization_id,
        key: user_id,
        subject: `sessions/${id}`,
        data: { organization_id, id, user_id, reason },
        correlationId: context.correlationId,
      })),
    );
  }

  private async tellStopped(
    tx: WorkerTransaction,
    context: AuditContext,
    rows: readonly StoppedRow[],
  ): Promise<void> {
    await this.outbox.append(
      tx,
      rows.map(({ expires_at: expiresAt, ...row }) => ({
        type: 'identity.impersonation.stopped.v1' as const,
        organizationId: row.organization_id,
        key: row.id,
        subject: `impersonations/${row.id}`,
        data: { ...row, expires_at: expiresAt.toISOString() },
        correlationId: context.correlationId,
      })),
    );
  }
}
