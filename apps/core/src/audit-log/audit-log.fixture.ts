import { AUDIT_TOPIC, type AuditEntry } from '@customer-platform/audit';
import { newId } from '@customer-platform/database';
import { RecordProducer } from '@customer-platform/event-bus';
import { eventually, proofBy, type Answer, type Caller } from '@customer-platform/testing';
import type { TestCore } from '../core.fixture.js';
import type { AuditLogDto } from './audit-log.dto.js';

/** An audit row as a module publishes it. */
export function anAuditEntry(organizationId: string, overrides: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: newId(),
    organization_id: organizationId,
    occurred_at: '2026-01-15T12:00:00.000Z',
    actor: { type: 'api_key', id: newId(), impersonator_id: null },
    action: 'crm.notes.update',
    module: 'crm',
    resource: { type: 'notes', id: newId() },
    outcome: 'success',
    changed_fields: ['body'],
    reason: null,
    correlation_id: newId(),
    ip: '203.0.113.7',
    user_agent: 'curl/8.0',
    ...overrides,
  };
}

/** Publishes values on the topic of audit rows, as other modules do, in this order. */
export async function publishAudit(core: TestCore, organizationId: string, values: string[]): Promise<void> {
  const producer = core.app.app.get(RecordProducer);
  const records = values.map((value) => ({ topic: AUDIT_TOPIC, key: organizationId, value }));
  await eventually(() =>
    Promise.all(
      records.map((record) =>
        producer.send(AUDIT_TOPIC, { ...record, headers: proofBy(writerOf(record.value), record) }),
      ),
    ),
  );
}

/** The module that a row names; core's where nothing can be read. */
function writerOf(value: string): string {
  return /"module":"([a-z]+)"/.exec(value)?.[1] ?? 'core';
}

/** An organization with a client for its log. */
export interface AuditWorld {
  readonly organizationId: string;
  readonly caller: Caller;
  list(query?: string): Promise<Answer<AuditLogDto>>;
  /** Publishes so many rows and waits until they are in the log. */
  fill(rows: number): Promise<AuditEntry[]>;
}

/** A fresh organization. */
export function anAuditWorld(core: TestCore): AuditWorld {
  const { id: organizationId } = core.anOrganization();
  const caller = core.app.as(organizationId, ['core.audit.read']);
  const list = (query = ''): Promise<Answer<AuditLogDto>> =>
    caller.get<AuditLogDto>(`/v1/core/audit-log?${query}`);
  return {
    organizationId,
    caller,
    list,
    fill: async (rows) => {
      const before = (await list()).body.chain.head_seq;
      const entries = Array.from({ length: rows }, () => anAuditEntry(organizationId));
      await publishAudit(
        core,
        organizationId,
        entries.map((entry) => JSON.stringify(entry)),
      );
      await eventually(async () => expect((await list()).body.chain.head_seq).toBe(before + rows), {
        within: 30_000,
      });
      return entries;
    },
  };
}
