import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Clock, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { EndedReason } from './session.dto.js';

/** Which sessions: a user's, in one organization only or everywhere. */
export interface SessionsOf {
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
RETURNING organization_id, id`;

/** Ends sessions, each with its event in the caller's transaction. */
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
    const rows = await tx.query<{ organization_id: string; id: string }>(END, [
      userId,
      organizationId ?? null,
      except ?? null,
      only ?? null,
      this.clock.now(),
      reason,
    ]);
    await this.outbox.append(
      tx,
      rows.map((row) => ({
        type: 'identity.session.ended.v1' as const,
        organizationId: row.organization_id,
        key: userId,
        subject: `sessions/${row.id}`,
        data: { organization_id: row.organization_id, id: row.id, user_id: userId, reason },
        correlationId: context.correlationId,
      })),
    );
  }
}
