import { Injectable } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, ItemJob, newId, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { addressForms } from '../vocabulary/is-email-address.js';

/** A token holds so long (identity.md §5). */
const LIFE_MS = 3_600_000;
/**
 * At its own pace, and never woken by a request: what is done for an address that somebody has is done at no moment
 * that the answer, or one beside it, could tell of.
 */
const EVERY_MS = 1_000;

/** A policy hides what nobody has asked for from jobs that do not say so: those of the release before. */
const KNOW_REASONS = `SELECT set_config('identity.reset_reasons', 'known', true)`;
/**
 * Those that failed before come last: each may take as long as a statement may, and whoever asks meanwhile does not wait
 * for them.
 */
const NEXT = `
SELECT organization_id, id, email, locale, ip, user_agent, correlation_id, reason FROM password_reset_requests
 WHERE organization_id = ANY ($3::uuid[]) AND id <> ALL ($1::uuid[])
 ORDER BY id = ANY ($2::uuid[]), id LIMIT 1 FOR UPDATE SKIP LOCKED`;
/** Whoever asks is nobody: they stand under the platform's own organization. */
const OWNERS = 'SELECT DISTINCT organization_id FROM password_reset_requests WHERE id <> ALL ($1::uuid[])';
/** Deletes by a statement of its own: where it fails it is known which request it was. */
const TAKE = 'DELETE FROM password_reset_requests WHERE organization_id = $1 AND id = $2';
/** Locked: whom another suspends at this moment has a token before that, which is dead then, or none. */
const WHOSE = `
SELECT id, organization_id, password_hash IS NOT NULL AS has_password FROM users
 WHERE lower(email) = ANY ($1::text[]) AND status = 'active' AND deleted_at IS NULL
 ORDER BY array_position($1::text[], lower(email)) LIMIT 1 FOR NO KEY UPDATE`;
const ISSUE = `
INSERT INTO password_resets AS known (organization_id, id, user_id, locale, expires_at, created_at, about)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (organization_id, user_id) DO UPDATE
   SET generation = known.generation + 1, locale = excluded.locale, open = true, expires_at = excluded.expires_at,
       about = excluded.about
RETURNING id`;

/** Once a day, and not to who has asked for a link that still works: that would end it. */
const TOLD = `
UPDATE users SET wrong_passwords_told_at = $2
 WHERE id = $1 AND (wrong_passwords_told_at IS NULL OR wrong_passwords_told_at <= $3)
   AND NOT EXISTS (SELECT FROM password_resets r WHERE r.user_id = $1 AND r.open AND r.expires_at > $2)
RETURNING id`;
const DAY_MS = 86_400_000;

interface UserRow {
  id: string;
  organization_id: string;
  has_password: boolean;
}

interface RequestRow {
  organization_id: string;
  id: string;
  email: string;
  locale: string | null;
  ip: string | null;
  user_agent: string | null;
  correlation_id: string;
  /** What made it, where it was not the person who asked. */
  reason: 'wrong_passwords' | null;
}

/**
 * Makes the tokens that were asked for, of those who have an account, and tells that a mail is due. Runs where
 * PROCESS_ROLE is not api; several instances share what waits.
 */
@Injectable()
export class PasswordResetIssuing extends ItemJob<RequestRow> {
  constructor(
    database: Database,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: 'password-reset-issuing', takes: 'rows of password_reset_requests', everyMs: EVERY_MS },
      database,
      clock,
      tenants,
    );
  }

  protected async owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<RequestRow, 'organization_id'>[]> {
    await tx.query(KNOW_REASONS);
    return tx.query(OWNERS, [waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<RequestRow | undefined> {
    await tx.query(KNOW_REASONS);
    const values = [waiting, this.backoff.failing(), organizationIds];
    const [request] = await tx.query<RequestRow>(NEXT, values);
    return request;
  }

  protected async work(tx: WorkerTransaction, request: RequestRow): Promise<void> {
    await tx.query(TAKE, [request.organization_id, request.id]);
    const [user] = await tx.query<UserRow>(WHOSE, [addressForms(request.email)]);
    if (!user || (request.reason !== null && !(await this.mayTell(tx, user)))) return;
    await this.issue(tx, request, user.id, user.organization_id);
  }

  /** Whether somebody is to be told that others try passwords of theirs. */
  private async mayTell(tx: WorkerTransaction, { id, has_password: hasPassword }: UserRow): Promise<boolean> {
    const now = this.clock.now();
    const dayAgo = new Date(now.getTime() - DAY_MS);
    return hasPassword && (await tx.query(TOLD, [id, now, dayAgo])).length > 0;
  }

  protected nameOf({ id }: RequestRow): string {
    return id;
  }

  private async issue(
    tx: WorkerTransaction,
    { locale, ip, user_agent: userAgent, correlation_id: correlationId, reason }: RequestRow,
    userId: string,
    organizationId: string,
  ): Promise<void> {
    await tx.useOrganization(organizationId);
    const now = this.clock.now();
    const ends = new Date(now.getTime() + LIFE_MS);
    const values = [organizationId, newId(), userId, locale, ends, now, reason];
    const [row] = await tx.query<{ id: string }>(ISSUE, values);
    if (!row) throw new Error('A reset that was written has answered no row');
    // Whoever asks is nobody: it is the platform that acts.
    const context = {
      ...systemActor(organizationId, correlationId, 'password-resets'),
      ...(ip === null ? {} : { ip }),
      ...(userAgent === null ? {} : { userAgent }),
    };
    await this.audit.record(tx, context, {
      action: 'identity.passwords.request_reset',
      resource: { type: 'users', id: userId },
    });
    await this.outbox.append(tx, {
      type: 'identity.password.reset_requested.v1',
      organizationId,
      key: userId,
      subject: `password-resets/${row.id}`,
      data: { organization_id: organizationId, id: row.id, user_id: userId },
      correlationId,
    });
  }
}
