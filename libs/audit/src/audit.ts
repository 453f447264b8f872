import { Inject, Injectable } from '@nestjs/common';
import { Clock, newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { AUDIT_TOPIC, type AuditContext, type AuditEntry } from './audit-entry.js';

/** The injection token of the module's name. */
export const AUDITED_MODULE = Symbol('AUDITED_MODULE');

/** What is to be recorded. */
interface AuditRecord {
  /** In the form of a permission: `core.contacts.merge`. */
  action: string;
  /** Resource as in the permission (`contacts`) and id of the row. */
  resource: { type: string; id: string };
  /** Names of the fields that changed; never their values. */
  changedFields?: readonly string[];
  /** The caller's own words, where an endpoint takes them. */
  reason?: string;
  /** `success` unless given. */
  outcome?: 'success' | 'denied';
}

const INSERT = `
  INSERT INTO audit_entries (organization_id, id, occurred_at, actor_type, actor_id, impersonator_id, action,
    resource_type, resource_id, outcome, changed_fields, reason, correlation_id, ip, user_agent)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

/**
 * The audit log's pen. The row is written in the caller's transaction: what it tells has happened if, and only if,
 * the row is there. The same row goes to the organization's audit log through the outbox.
 */
@Injectable()
export class Audit {
  constructor(
    @Inject(AUDITED_MODULE) private readonly module: string,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Records one act. Personal values have no place in it: names of fields, ids and the caller's reason only. */
  async record(tx: Transaction, context: AuditContext, record: AuditRecord): Promise<void> {
    const entry = this.entryOf(context, record);
    await tx.prepared(INSERT, [
      entry.organization_id,
      entry.id,
      entry.occurred_at,
      entry.actor.type,
      entry.actor.id,
      entry.actor.impersonator_id,
      entry.action,
      entry.resource.type,
      entry.resource.id,
      entry.outcome,
      entry.changed_fields,
      entry.reason,
      entry.correlation_id,
      entry.ip,
      entry.user_agent,
    ]);
    await this.outbox.appendMessages(tx, [
      {
        organizationId: entry.organization_id,
        topic: AUDIT_TOPIC,
        key: entry.organization_id,
        value: JSON.stringify(entry),
      },
    ]);
  }

  private entryOf(context: AuditContext, record: AuditRecord): AuditEntry {
    const { actor } = context;
    return {
      id: newId(),
      organization_id: context.organizationId,
      occurred_at: this.clock.now().toISOString(),
      actor: { type: actor.type, id: actor.id, impersonator_id: actor.impersonatorId ?? null },
      action: record.action,
      module: this.module,
      resource: { ...record.resource },
      outcome: record.outcome ?? 'success',
      changed_fields: [...(record.changedFields ?? [])],
      reason: record.reason ?? null,
      correlation_id: context.correlationId,
      ip: context.ip ?? null,
      user_agent: context.userAgent ?? null,
    };
  }
}
