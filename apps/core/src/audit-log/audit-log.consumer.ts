import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AUDIT_TOPIC, readAuditEntry, type AuditEntry } from '@customer-platform/audit';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, Database } from '@customer-platform/database';
import { RecordConsumers, type IncomingRecord } from '@customer-platform/event-bus';
import { UnreadableRecords } from '../processing/unreadable-records.js';
import { AuditLogRepository } from './audit-log.repository.js';

/**
 * Takes the audit rows of all modules off their topic into the chain of their organization, in the order in which they
 * came. A row that comes twice stands there once. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class AuditLogConsumer implements OnApplicationBootstrap {
  constructor(
    private readonly consumers: RecordConsumers,
    private readonly database: Database,
    private readonly log: AuditLogRepository,
    private readonly unreadable: UnreadableRecords,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.consumers.consume({
      topic: AUDIT_TOPIC,
      group: 'core.audit-log',
      eachChunk: (records) => this.take(records),
    });
  }

  /** Throws only while the database is away: what can never be read is set aside. */
  async take(records: readonly IncomingRecord[]): Promise<void> {
    const entries: AuditEntry[] = [];
    for (const record of records) {
      try {
        entries.push(readAuditEntry(record.value.toString('utf8')));
      } catch (error) {
        await this.unreadable.keep(AUDIT_TOPIC, record, error);
      }
    }
    const byOrganization = Map.groupBy(entries, (entry) => entry.organization_id);
    for (const [organizationId, own] of byOrganization) {
      await this.database.inOrganization({ organizationId }, (tx) =>
        this.log.append(tx, own, this.clock.now()),
      );
    }
  }
}
