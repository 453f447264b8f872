import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { Clock, newId, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { addressForms } from '../vocabulary/is-email-address.js';

/** Whoever has an address on the platform. */
interface KnownUser {
  readonly id: string;
  /** Has accepted an invitation before, or come by SSO; not one who was only written down. */
  readonly hasAccount: boolean;
}

/** Who has proved to have the address. */
interface Arrival {
  readonly email: string;
  readonly name: string;
  readonly locale: string | null;
  /** Null for who signs in elsewhere. */
  readonly passwordHash: string | null;
}

const KNOWN = `
SELECT id, status <> 'invited' AS has_account FROM users WHERE lower(email) = ANY ($1::text[]) AND deleted_at IS NULL
 ORDER BY array_position($1::text[], lower(email)) LIMIT 1`;
/** The address is the platform's: of two who come with one at the same moment, the second finds the first. */
const INSERT = `
INSERT INTO users (organization_id, id, email, name, locale, status, email_verified, password_hash,
  password_changed_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 'active', true, $6, CASE WHEN $6::text IS NOT NULL THEN $7::timestamptz END, $7, $7)
ON CONFLICT (lower(email)) WHERE deleted_at IS NULL DO NOTHING RETURNING id`;
/** The home is the organization first joined, whoever wrote the user down. */
const ACTIVATE = `
UPDATE users
   SET organization_id = $1, status = 'active', email_verified = true, name = $3, locale = coalesce(locale, $4),
       password_hash = $5, password_changed_at = CASE WHEN $5::text IS NOT NULL THEN $6::timestamptz END, updated_at = greatest($6::timestamptz, updated_at + interval '1 ms')
 WHERE id = $2 AND status = 'invited'`;

/** How people come onto the platform: with an address that they have proved to have (identity.md §3). */
@Injectable()
export class UserArrivals {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Who has the address, wherever at home. With `lock`, nobody else changes them before the transaction ends. */
  async known(tx: WorkerTransaction, email: string, lock = false): Promise<KnownUser | undefined> {
    const [row] = await tx.query<{ id: string; has_account: boolean }>(KNOWN + (lock ? ' FOR UPDATE' : ''), [
      addressForms(email),
    ]);
    return row && { id: row.id, hasAccount: row.has_account };
  }

  /**
   * Makes the person a user at home in the transaction's organization: a new one, or one who was written down before.
   * `contextOf` is asked for the audit context once it is known who acts.
   * @returns undefined where somebody has the address and an account
   */
  async arrive(
    tx: WorkerTransaction,
    arrival: Arrival,
    contextOf: (userId: string) => AuditContext,
  ): Promise<string | undefined> {
    const { email, name, locale, passwordHash } = arrival;
    const now = this.clock.now();
    const created = await tx.query<{ id: string }>(INSERT, [
      tx.organizationId,
      newId(),
      email,
      name,
      locale,
      passwordHash,
      now,
    ]);
    const known = created.length > 0 ? undefined : await this.known(tx, email, true);
    if (known?.hasAccount) return undefined;
    const id = created[0]?.id ?? known?.id;
    if (id === undefined) throw new Error('An address is taken and nobody has it');
    if (known) await tx.query(ACTIVATE, [tx.organizationId, id, name, locale, passwordHash, now]);
    await this.record(tx, contextOf(id), id, {
      isNew: created.length > 0,
      hasPassword: passwordHash !== null,
    });
    return id;
  }

  private async record(
    tx: WorkerTransaction,
    context: AuditContext,
    id: string,
    { isNew, hasPassword }: { readonly isNew: boolean; readonly hasPassword: boolean },
  ): Promise<void> {
    const changed = ['name', 'locale', 'status', 'email_verified', ...(hasPassword ? ['password'] : [])];
    await this.audit.record(tx, context, {
      action: `identity.users.${isNew ? 'create' : 'activate'}`,
      resource: { type: 'users', id },
      changedFields: isNew ? ['email', ...changed] : changed,
    });
    const told = changed.filter((field) => field !== 'password');
    const verbs = isNew ? (['created', 'activated'] as const) : (['activated'] as const);
    await this.outbox.append(
      tx,
      verbs.map((verb) => ({
        type: `identity.user.${verb}.v1` as const,
        organizationId: tx.organizationId,
        key: id,
        subject: `users/${id}`,
        data: {
          organization_id: tx.organizationId,
          id,
          changed: verb === 'created' ? ['email', ...told] : told,
        },
        correlationId: context.correlationId,
      })),
    );
  }
}
