import { Injectable } from '@nestjs/common';
import { newId, type Transaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';

const STORED = `
  SELECT id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at, payload,
         identities, fingerprint
    FROM events WHERE organization_id = $1 AND id = $2`;

/** A letter whose replay fails again waits once more; one that waited to be told of is evaluated before that. */
const KEEP = `
  INSERT INTO dead_letters AS letter (organization_id, id, event_id, type, stage, code, detail, attempts, payload,
    external_id, contact_id, state, fingerprint, received_at, first_failed_at, last_failed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', $12, $13, now(), now())
  ON CONFLICT (organization_id, event_id, fingerprint, (stage = 'loyalty')) DO UPDATE
    SET state = 'pending', stage = excluded.stage, code = excluded.code, attempts = letter.attempts + excluded.attempts,
        payload = coalesce(letter.payload, excluded.payload), closed_reason = NULL,
        last_failed_at = now(), updated_at = now()`;

/** No replay can help where the event is gone: its letter is not to say that one has. */
const CLOSE = `
  UPDATE dead_letters
     SET state = 'closed', closed_reason = 'event_removed', code = $4, attempts = attempts + $5, last_failed_at = now(),
         updated_at = now()
   WHERE organization_id = $1 AND event_id = $2 AND (stage = 'loyalty') = ($3 = 'loyalty') AND state = 'replayed'
  RETURNING id`;

/** What failed of an event after it had been stored. */
interface LateFailure {
  readonly eventId: string;
  readonly stage: 'segments' | 'loyalty';
  readonly code: string;
  /** Public text. */
  readonly detail: string;
  readonly attempts: number;
}

/** Dead letters of events that failed at what follows their store. */
@Injectable()
export class StoredEventLetters {
  /**
   * Keeps a dead letter of an event that is stored, and counts as stored; of an erased one there is nothing to keep. Of one
   * that retention has removed the letter is closed.
   */
  async keep(tx: Transaction, failure: LateFailure): Promise<void> {
    const { eventId, stage, code, detail, attempts } = failure;
    const [event] = await tx.query<StoredRow>(STORED, [tx.organizationId, eventId]);
    if (!event) {
      const closed = await tx.query(CLOSE, [tx.organizationId, eventId, stage, code, attempts]);
      log.warn(
        { event_id: eventId, stage, code, letters: closed.length },
        'What failed of an event that is gone',
      );
      return;
    }
    await tx.query(KEEP, [
      tx.organizationId,
      newId(),
      eventId,
      event.type,
      stage,
      code,
      detail,
      attempts,
      Buffer.from(JSON.stringify(bodyOf(event))),
      event.external_id,
      event.contact_id,
      event.fingerprint,
      event.received_at,
    ]);
  }
}

/** The columns of an event that its letter keeps. */
interface StoredRow {
  readonly type: 'track' | 'identify';
  readonly event: string | null;
  readonly external_id: string;
  readonly contact_id: string;
  readonly idempotency_key: string;
  readonly occurred_at: Date;
  readonly received_at: Date;
  readonly payload: Record<string, unknown>;
  readonly identities: unknown;
  readonly fingerprint: string;
}

/** The event as it might have been sent. */
function bodyOf(row: StoredRow) {
  const { type, event, external_id, idempotency_key, occurred_at, payload, identities } = row;
  const sent = { external_id, idempotency_key, occurred_at: occurred_at.toISOString() };
  if (type === 'track') return { event: event ?? '', ...sent, properties: payload };
  return { ...sent, traits: payload, ...(identities === null ? {} : { identities }) };
}
