import { Injectable } from '@nestjs/common';
import { Audit, type AuditContext } from '@customer-platform/audit';
import type { Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { DnsRecords } from './dns-records.js';
import type { DomainCheck } from './dns/domain-checker.js';
import { progressOf, type Progress } from './domain-progress.js';
import { SenderDomainEntity } from './sender-domain.entity.js';

const WRITE = `
  UPDATE sender_domains SET state = $3, dkim_keys = $4, findings = $5, failing_since = $6, verified_at = $7,
         next_check_at = $8, checked_at = coalesce($9::timestamptz, checked_at),
         updated_at = CASE WHEN $9::timestamptz IS NULL THEN updated_at ELSE greatest($9::timestamptz, updated_at + interval '1 millisecond') END
   WHERE organization_id = $1 AND id = $2`;

/** Writes down what checks of domains have found. */
@Injectable()
export class DomainChecks {
  constructor(
    private readonly records: DnsRecords,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
  ) {}

  /**
   * In the transaction of the domain's organization. Of two checks at once the one that asked later stands: an older
   * answer changes nothing. What somebody asked for (`asked`) is audited always, what the platform does by itself
   * where it changes the state.
   */
  async apply(
    tx: Transaction,
    context: AuditContext,
    id: string,
    check: DomainCheck,
    { asked }: { asked: boolean },
  ): Promise<void> {
    const { organizationId } = context;
    const row = await tx.manager.findOne(SenderDomainEntity, {
      where: { organizationId, id },
      lock: { mode: 'pessimistic_write' },
    });
    if (!row || row.deletedAt || (row.checkedAt && row.checkedAt > check.askedAt)) return;
    const next = progressOf(row, check, this.records);
    // A silence changes nothing that is shown, and no earlier answer gives way to it.
    const answered = Object.keys(check.findings).length > 0;
    await tx.query(WRITE, [
      organizationId,
      id,
      next.state,
      JSON.stringify(next.dkimKeys),
      JSON.stringify(next.findings),
      next.failingSince,
      next.verifiedAt,
      next.nextCheckAt,
      answered ? check.askedAt : null,
    ]);
    await this.tell(tx, context, row, next, asked);
  }

  private async tell(
    tx: Transaction,
    context: AuditContext,
    row: SenderDomainEntity,
    next: Progress,
    asked: boolean,
  ): Promise<void> {
    const { id, domain } = row;
    const changed = next.state !== row.state;
    if (asked || changed)
      await this.audit.record(tx, context, {
        action: 'messaging.domains.verify',
        resource: { type: 'domains', id },
        changedFields: changed ? ['state'] : [],
      });
    if (!changed || next.state === 'pending') return;
    const { organizationId, correlationId } = context;
    await this.outbox.append(tx, {
      type: `messaging.sender_domain.${next.state}.v1`,
      organizationId,
      correlationId,
      key: id,
      subject: `sender-domains/${id}`,
      data: { sender_domain_id: id, domain },
    });
    if (next.state === 'failed')
      tx.afterCommit(() => log.warn({ domain: id }, 'A sender domain has been without its records for 72 h'));
  }
}
