import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AUDIT_TOPIC, readAuditEntry, type AuditEntry } from '@customer-platform/audit';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, Database, isTransient, ranOut } from '@customer-platform/database';
import { RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { RECORD_TOPICS, UnprovenEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { UnreadableRecords } from '../processing/unreadable-records.js';
import { AuditLogRepository } from './audit-log.repository.js';

interface ReadRecord {
  readonly record: IncomingRecord;
  readonly entry: AuditEntry;
}

/**
 * Takes the audit rows of all modules off their topic into the chain of their organization, in the order in which they
 * came. A row that comes twice stands there once. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class AuditLogConsumer implements OnApplicationBootstrap {
  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly chains: AuditLogRepository,
    private readonly unreadable: UnreadableRecords,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.consumers.consume({
      topic: AUDIT_TOPIC,
      group: RECORD_TOPICS[AUDIT_TOPIC].groups.log,
      positions: 'kept',
      eachChunk: (records) => this.take(records),
      takesUnproven: true,
    });
  }

  /** Throws only while the database is away: what can never be read or appended is set aside. */
  async take(records: readonly IncomingRecord[]): Promise<void> {
    const read: ReadRecord[] = [];
    for (const record of records) {
      try {
        if (record.unproven) throw record.unproven;
        const entry = readAuditEntry(record.value.toString('utf8'));
        if (record.writer !== undefined && record.writer !== entry.module)
          throw new UnprovenEvent(`an audit row of ${entry.module} is signed by ${record.writer}`);
        read.push({ record, entry });
      } catch (error) {
        await this.unreadable.keep(AUDIT_TOPIC, record, error);
      }
    }
    const byOrganization = Map.groupBy(read, ({ entry }) => entry.organization_id);
    for (const [organizationId, own] of byOrganization) await this.append(organizationId, own);
  }

  /**
   * A chain that takes no row, because somebody wrote behind its end, must not hold back those of others; nor must a row
   * that is refused those that came with it, which are halved until it stands alone.
   */
  private async append(organizationId: string, read: readonly ReadRecord[]): Promise<void> {
    const entries = read.map(({ entry }) => entry);
    try {
      await this.database.inOrganization({ organizationId }, (tx) =>
        this.chains.append(tx, entries, this.clock.now()),
      );
    } catch (error) {
      if (isTransient(error) && !(ranOut(error) && read.length > 1)) throw error;
      if (read.length > 1) {
        const middle = read.length >> 1;
        await this.append(organizationId, read.slice(0, middle));
        return this.append(organizationId, read.slice(middle));
      }
      log.error({ err: error, organizationId }, 'The audit log of an organization takes no rows');
      for (const { record } of read) await this.unreadable.keep(AUDIT_TOPIC, record, error);
    }
  }
}
