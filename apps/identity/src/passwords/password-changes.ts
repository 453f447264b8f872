import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { afterLocks, Clock, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { SessionEndings } from '../sessions/session-endings.js';
import { PasswordAttempts } from './password-attempts.js';

/** A person and the new password's hash. */
interface NewPassword {
  readonly userId: string;
  readonly email: string;
  readonly hash: string;
  /** The session that goes on, where one does. */
  readonly exceptSessionId?: string;
}

const LOCK = 'SELECT id FROM users WHERE id = $1 FOR UPDATE';
const CHANGE = `
UPDATE users
   SET password_hash = $2, password_changed_at = $3,
       updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE id = $1`;

/** Sets passwords, by whichever way somebody has come to it. */
@Injectable()
export class PasswordChanges {
  constructor(
    private readonly attempts: PasswordAttempts,
    private readonly sessions: SessionEndings,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Sets the password of a user, whose row the caller has locked where it decided by it, ends the sessions, and tells
   * it in the organization of the transaction: its audit log, and the event. Wrong passwords of before count no more.
   */
  async change(
    tx: WorkerTransaction,
    context: AuditContext,
    { userId, email, hash, exceptSessionId }: NewPassword,
  ): Promise<void> {
    const { organizationId, correlationId } = context;
    const [, now] = await afterLocks(this.clock, tx.query(LOCK, [userId]));
    await tx.query(CHANGE, [userId, hash, now]);
    const ended = { userId, ...(exceptSessionId === undefined ? {} : { except: exceptSessionId }) };
    await this.sessions.endAll(tx, context, ended, 'password_changed');
    await this.attempts.forget(tx, email);
    await this.audit.record(tx, context, {
      action: 'identity.passwords.change',
      resource: { type: 'users', id: userId },
      changedFields: ['password'],
    });
    await this.outbox.append(tx, {
      type: 'identity.password.changed.v1',
      organizationId,
      key: userId,
      subject: `users/${userId}`,
      data: { organization_id: organizationId, id: userId, user_id: userId },
      correlationId,
    });
  }
}
