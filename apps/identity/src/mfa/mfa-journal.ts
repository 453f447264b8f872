import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import type { WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { SessionEndings } from '../sessions/session-endings.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';

type FactorEvent =
  | 'identity.mfa_factor.confirmed.v1'
  | 'identity.recovery_code.used.v1'
  | 'identity.recovery_code.replaced.v1';

/** What others learn of a change of somebody's factors: event, audit row, and the end of sessions. */
@Injectable()
export class MfaJournal {
  constructor(
    private readonly codes: RecoveryCodesStore,
    private readonly sessions: SessionEndings,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {}

  async recoveryCodeUsed(
    tx: WorkerTransaction,
    context: AuditContext,
    userId: string,
    codeId: string,
  ): Promise<void> {
    const subject = `recovery-codes/${codeId}`;
    await this.tell(tx, context, 'identity.recovery_code.used.v1', { subject, id: codeId, userId });
    await this.record(tx, context, 'identity.mfa.use_recovery_code', userId, ['recovery_codes']);
  }

  async recoveryCodesReplaced(tx: WorkerTransaction, context: AuditContext, userId: string): Promise<void> {
    const subject = `users/${userId}`;
    await this.tell(tx, context, 'identity.recovery_code.replaced.v1', { subject, id: userId, userId });
    await this.record(tx, context, 'identity.mfa.replace_recovery_codes', userId, ['recovery_codes']);
  }

  /** Other sessions end; with the first factor of a user come recovery codes. */
  async confirmed(
    tx: WorkerTransaction,
    context: AuditContext,
    { userId, factorId, isFirst, sessionId }: Confirmation,
  ): Promise<string[] | null> {
    const others = { userId, ...(sessionId === undefined ? {} : { except: sessionId }) };
    await this.sessions.endAll(tx, context, others, 'mfa_changed');
    const subject = `mfa-factors/${factorId}`;
    await this.tell(tx, context, 'identity.mfa_factor.confirmed.v1', { subject, id: factorId, userId });
    await this.record(tx, context, 'identity.mfa.confirm', userId, ['factors']);
    return isFirst ? this.codes.replace(tx, userId) : null;
  }

  private async tell(
    tx: WorkerTransaction,
    { organizationId, correlationId }: AuditContext,
    type: FactorEvent,
    { subject, id, userId }: { subject: string; id: string; userId: string },
  ): Promise<void> {
    await this.outbox.append(tx, {
      type,
      organizationId,
      key: userId,
      subject,
      data: { organization_id: organizationId, id, user_id: userId },
      correlationId,
    });
  }

  private async record(
    tx: WorkerTransaction,
    context: AuditContext,
    action: string,
    id: string,
    changedFields: string[],
  ): Promise<void> {
    await tx.useOrganization(context.organizationId);
    await this.audit.record(tx, context, { action, resource: { type: 'users', id }, changedFields });
  }
}

/** A factor that was given its first code. */
interface Confirmation {
  readonly userId: string;
  readonly factorId: string;
  readonly isFirst: boolean;
  /** That session goes on. */
  readonly sessionId?: string;
}
