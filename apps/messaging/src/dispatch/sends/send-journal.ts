import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import type { SendFacts } from '../../vocabulary/sends/send.js';
import { isFinal, type SendState } from '../../vocabulary/sends/send-state.js';

/** One step a send has taken. */
export interface SendStep {
  readonly send: SendFacts;
  readonly state: SendState;
  readonly reason?: string | null;
  readonly attempt: number;
  readonly smtpCode?: number | null;
  readonly providerEventId?: string | null;
  /** When the provider says it was; now unless given. */
  readonly occurredAt?: Date;
  /** A report that changes nothing: no event tells of it. */
  readonly noted?: boolean;
}

/** The steps, in their order, and nothing of the content of what has ended with them. */
const RECORD = `
  WITH dropped AS (
    DELETE FROM send_payloads WHERE (organization_id, send_id) IN (SELECT * FROM unnest($9::uuid[], $10::uuid[]))
  )
  INSERT INTO send_history (organization_id, send_id, state, reason, attempt, provider_event_id, smtp_code, occurred_at)
  SELECT organization_id, send_id, state, reason, attempt, provider_event_id, smtp_code, occurred_at
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int[], $6::text[], $7::int[], $8::timestamptz[]) WITH ORDINALITY
      AS step (organization_id, send_id, state, reason, attempt, provider_event_id, smtp_code, occurred_at, place)
   ORDER BY place`;

/**
 * What every change of a send's state leaves behind, in the transaction of the change: a row of the append-only
 * history, its event, and nothing of the content once the send is final (messaging.md §5).
 */
@Injectable()
export class SendJournal {
  constructor(private readonly outbox: Outbox) {}

  /** Steps of one send in their order. The rows of `sends` are the caller's. */
  async record(tx: Transaction, steps: readonly SendStep[], now: Date): Promise<void> {
    if (steps.length === 0) return;
    const ended = steps.filter(({ state }) => isFinal(state));
    await tx.prepared(RECORD, [
      steps.map(({ send }) => send.organizationId),
      steps.map(({ send }) => send.id),
      steps.map(({ state }) => state),
      steps.map(({ reason }) => reason ?? null),
      steps.map(({ attempt }) => attempt),
      steps.map(({ providerEventId }) => providerEventId ?? null),
      steps.map(({ smtpCode }) => smtpCode ?? null),
      steps.map(({ occurredAt }) => occurredAt ?? now),
      ended.map(({ send }) => send.organizationId),
      ended.map(({ send }) => send.id),
    ]);
    await this.tell(tx, steps, now);
  }

  /** The events alone, of sends that came into being with the first row of their history. */
  async tell(tx: Transaction, steps: readonly SendStep[], now: Date): Promise<void> {
    await this.outbox.append(
      tx,
      steps.flatMap((step) => (step.noted ? [] : eventOf(step, now))),
    );
  }
}

function eventOf({ send, state, reason }: SendStep, now: Date): NewDomainEvent[] {
  // A person's erasure takes the correlation away; what still happens to such a send concerns nobody.
  if (send.correlationId === null) return [];
  return [
    {
      type: `messaging.send.${state === 'unknown' ? 'unconfirmed' : state}.v1`,
      organizationId: send.organizationId,
      key: send.id,
      subject: `sends/${send.id}`,
      correlationId: send.correlationId,
      ...(send.eventId === null ? {} : { causationId: send.eventId }),
      time: now.toISOString(),
      data: {
        send_id: send.id,
        contact_id: send.contactId,
        channel: send.channel,
        category: send.category,
        topic: send.topic,
        campaign_id: send.campaignId,
        reason: reason ?? null,
        metadata: send.metadata,
      },
    },
  ];
}
