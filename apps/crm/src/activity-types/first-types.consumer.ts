import { Controller } from '@nestjs/common';
import { Audit, systemActor } from '@customer-platform/audit';
import { Clock, Database, newId, type Transaction } from '@customer-platform/database';
import { Inbox, OnEvent, Outbox } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { FIRST_TYPES } from './first-types.js';

type Founded = DomainEvent<'identity.organization.created.v1'>;

const CONSUMER = 'crm.activity-types';

/** A key that the organization has taken meanwhile stays as it made it. */
const INSERT = `
  INSERT INTO activity_types
    (organization_id, id, key, name, outcomes, outcome_required, fields, created_at, updated_at)
  SELECT $1, id, key, name, '[]', false, '[]', $5, $5
    FROM unnest($2::uuid[], $3::text[], $4::text[]) AS type (id, key, name)
  ON CONFLICT DO NOTHING RETURNING id`;

/** Gives new organizations their first activity types, once: what they delete afterwards does not come back. */
@Controller()
export class FirstTypesConsumer {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  @OnEvent('identity.organization.created.v1')
  async give(events: Founded[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      for (const event of events.toSorted((a, b) => (a.data.id < b.data.id ? -1 : 1))) {
        await tx.useOrganization(event.data.id);
        const fresh = await this.inbox.claim(tx, CONSUMER, [event.id]);
        if (fresh.has(event.id)) await this.giveTypes(tx, event);
      }
    });
  }

  private async giveTypes(tx: Transaction, { id: causationId, correlationid }: Founded): Promise<void> {
    const { organizationId } = tx;
    const keys = Object.keys(FIRST_TYPES);
    const given = await tx.query<{ id: string }>(INSERT, [
      organizationId,
      keys.map(() => newId()),
      keys,
      Object.values(FIRST_TYPES),
      this.clock.now(),
    ]);
    const changed = ['key', 'name', 'outcomes', 'outcome_required', 'fields'];
    for (const { id } of given) {
      await this.audit.record(tx, systemActor(organizationId, correlationid, CONSUMER), {
        action: 'crm.activity_types.create',
        resource: { type: 'activity_types', id },
        changedFields: changed,
      });
    }
    const told = given.map(({ id }) => ({
      type: 'crm.activity_type.created.v1' as const,
      organizationId,
      key: id,
      subject: `activity-types/${id}`,
      data: { id, changed },
      correlationId: correlationid,
      causationId,
    }));
    await this.outbox.append(tx, told);
  }
}
