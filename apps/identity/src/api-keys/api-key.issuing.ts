import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@customer-platform/authorization';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';

/** A key to be issued. */
interface NewApiKey {
  name: string;
  roleId: string;
  expiresAt?: Date | null;
  /** When its life begins; the present, unless the caller has reckoned from an instant of its own. */
  createdAt?: Date;
  /** The key it replaces. */
  rotatedFromId?: string;
}

/** A key as it was issued; `key` is shown once and kept nowhere. */
export interface IssuedApiKey {
  id: string;
  prefix: string;
  key: string;
}

const INSERT = `
INSERT INTO api_keys
  (organization_id, id, name, role_id, key_hash, prefix, expires_at, rotated_from_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`;

const REVOKE = `
UPDATE api_keys SET revoked_at = $3, updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
RETURNING prefix, role_id, expires_at`;

export interface ApiKeyFacts {
  id: string;
  prefix: string;
  role_id: string;
  expires_at: Date | null;
}

/**
 * Issues and ends API keys, each with its audit row and its event in the caller's transaction. Whether the caller may
 * is decided before (escalation, limits); an operator always may.
 */
@Injectable()
export class ApiKeyIssuing {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** A fresh key of a machine role. */
  async issue(tx: Transaction, context: AuditContext, key: NewApiKey): Promise<IssuedApiKey> {
    const text = newApiKey();
    const issued = { id: newId(), prefix: apiKeyPrefix(text), key: text };
    const { name, roleId, expiresAt = null, createdAt = this.clock.now(), rotatedFromId = null } = key;
    const hash = Buffer.from(hashApiKey(text), 'hex');
    const values = [
      tx.organizationId,
      issued.id,
      name,
      roleId,
      hash,
      issued.prefix,
      expiresAt,
      rotatedFromId,
    ];
    await tx.query(INSERT, [...values, createdAt]);
    if (rotatedFromId === null) {
      // A rotation is one act with one audit row, which names the former key.
      await this.audit.record(tx, context, {
        action: 'identity.api_keys.create',
        resource: { type: 'api_keys', id: issued.id },
        changedFields: ['name', 'role_id', ...(expiresAt ? ['expires_at'] : [])],
      });
    }
    const { id, prefix } = issued;
    await this.publish(tx, context, 'created', { id, prefix, role_id: roleId, expires_at: expiresAt });
    return issued;
  }

  /** Ends a key now. False when there was nothing to end: it is revoked or expired already, or not there. */
  async revoke(tx: Transaction, context: AuditContext, id: string, reason?: string): Promise<boolean> {
    const [row] = await tx.query<Omit<ApiKeyFacts, 'id'>>(REVOKE, [tx.organizationId, id, this.clock.now()]);
    if (!row) return false;
    await this.audit.record(tx, context, {
      action: 'identity.api_keys.revoke',
      resource: { type: 'api_keys', id },
      changedFields: ['status'],
      ...(reason === undefined ? {} : { reason }),
    });
    await this.publish(tx, context, 'revoked', { id, ...row });
    return true;
  }

  /** Tells the other modules of a key; never the key itself. */
  async publish(
    tx: Transaction,
    context: AuditContext,
    verb: 'created' | 'rotated' | 'revoked',
    key: ApiKeyFacts,
  ): Promise<void> {
    const { id, prefix, role_id: roleId, expires_at: expiresAt } = key;
    await this.outbox.append(tx, {
      type: `identity.api_key.${verb}.v1`,
      organizationId: tx.organizationId,
      key: id,
      subject: `api-keys/${id}`,
      data: {
        organization_id: tx.organizationId,
        id,
        prefix,
        role_id: roleId,
        expires_at: expiresAt?.toISOString() ?? null,
      },
      correlationId: context.correlationId,
    });
  }
}
