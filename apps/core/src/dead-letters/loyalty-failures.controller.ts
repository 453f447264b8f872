import { Controller } from '@nestjs/common';
import { Database, newId, type Transaction } from '@customer-platform/database';
import { Inbox, OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { fingerprintOf } from '../processing/work-item.js';
import type { EventRow } from '../events/event.dto.js';

type LoyaltyFailure = DomainEvent<'loyalty.evaluation.failed.v1'>;

const STORED = `
  SELECT id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload
    FROM events WHERE organization_id = $1 AND id = $2`;

/** A letter whose replay fails again waits once more. */
const KEEP = `
  INSERT INTO dead_letters AS letter (organization_id, id, event_id, type, stage, code, detail, attempts, payload,
    external_id, contact_id, state, fingerprint, received_at, first_failed_at, last_failed_at)
  VALUES ($1, $2, $3, $4, 'loyalty', $5, 'The loyalty rules could not be applied to the event.', $6, $7, $8, $9,
          'pending', $10, $11, now(), now())
  ON CONFLICT (organization_id, event_id, fingerprint, (stage = 'loyalty')) DO UPDATE
    SET state = 'pending', code = excluded.code, attempts = letter.attempts + excluded.attempts,
        last_failed_at = now(), updated_at = now()`;

/** Keeps the events to which loyalty could not apply its rules as dead letters of the stage `loyalty`. */
@Controller()
export class LoyaltyFailuresController {
  constructor(
    private readonly database: Database,
    private readonly inbox: Inbox,
  ) {}

  @OnEvent('loyalty.evaluation.failed.v1')
  async keep(events: LoyaltyFailure[]): Promise<void> {
    const byOrganization = Map.groupBy(events, ({ organizationid }) => organizationid);
    for (const [organizationId, failures] of byOrganization) {
      await this.database.inOrganization({ organizationId }, async (tx) => {
        const ids = failures.map(({ id }) => id);
        const fresh = await this.inbox.claim(tx, 'core.dead-letters', ids);
        for (const failure of failures) if (fresh.has(failure.id)) await keepOne(tx, failure);
      });
    }
  }
}

async function keepOne(tx: Transaction, failure: LoyaltyFailure): Promise<void> {
  const { event_id: eventId, code, attempts } = failure.data;
  const [event] = await tx.query<EventRow>(STORED, [tx.organizationId, eventId]);
  // Erased meanwhile: there is nothing left to run again.
  if (!event) return;
  const body = {
    event: event.event ?? '',
    external_id: event.external_id,
    idempotency_key: event.idempotency_key,
    occurred_at: event.occurred_at.toISOString(),
    properties: event.payload,
  };
  await tx.query(KEEP, [
    tx.organizationId,
    newId(),
    eventId,
    event.type,
    code,
    attempts,
    Buffer.from(JSON.stringify(body)),
    event.external_id,
    event.contact_id,
    fingerprintOf('track', body),
    event.received_at,
  ]);
}
