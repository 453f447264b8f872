import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, isTransient, ranOut, type WorkerTransaction } from '@customer-platform/database';
import { Outbox, type NewDomainEvent } from '@customer-platform/event-bus';
import { ItemBackoff, log, TurnLine, WorkerJob } from '@customer-platform/http';
import type { EventKind } from '../vocabulary/events/event-schemas.js';
import { FailingEvents, type FailedReplay } from '../processing/failing-events.js';
import { readArrival, type Arrival, type ResumePoint, type Stage } from '../vocabulary/events/work-item.js';
import { SegmentFollower } from '../following/segment-follower.js';
import { ReplaySignal } from './replay.signal.js';

/** Its name in metrics and log lines. */
const JOB = 'dead-letter-replay';
const LOOK_EVERY_MS = 1_000;

/** The counters of what happens outside the queue. */
const NO_PARTITION = -1;

const WAITING = `SELECT DISTINCT organization_id AS id FROM dead_letters WHERE state = 'replaying' AND id <> ALL($1::uuid[])`;

/** In the order of an index that begins with the organization, however many it has queued. */
const NEXT = `
  SELECT organization_id, id, event_id, type, stage, payload, received_at, remainder AS resume_point
    FROM dead_letters
   WHERE organization_id = $2 AND state = 'replaying' AND id <> ALL($1::uuid[])
   ORDER BY last_failed_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`;

const SETTLE = `
  UPDATE dead_letters
     SET state = 'replayed', updated_at = now(),
         remainder = NULL, contact_id = coalesce((SELECT contact_id FROM events
                                 WHERE events.organization_id = $1 AND events.id = dead_letters.event_id), contact_id)
   WHERE organization_id = $1 AND id = $2`;

/** Unless an erasure, or another process, has decided of it meanwhile. */
const GIVE_BACK = `
  UPDATE dead_letters
     SET state = 'pending', stage = $3, code = $4, detail = $5, attempts = attempts + $6, last_failed_at = now(),
         updated_at = now(), remainder = coalesce($7::jsonb, remainder), contact_id = coalesce($8, contact_id)
   WHERE organization_id = $1 AND id = $2 AND state = 'replaying'`;

/** No replay can help, and nothing of whom it was about stays. */
const CLOSE = `
  UPDATE dead_letters
     SET state = 'closed', closed_reason = $3, stage = $4, code = $3, detail = $5, attempts = attempts + 1, payload = NULL,
         external_id = NULL, contact_id = NULL, remainder = NULL, last_failed_at = now(), updated_at = now()
   WHERE organization_id = $1 AND id = $2`;

const STORED = `SELECT contact_id AS "contactId" FROM events WHERE organization_id = $1 AND id = $2`;

const RECORDED = `
  SELECT contact_id, external_id, event, occurred_at, received_at, payload FROM events
   WHERE organization_id = $1 AND id = $2 AND type = 'track'`;

interface QueuedLetter {
  organization_id: string;
  id: string;
  event_id: string;
  type: EventKind;
  stage: Stage;
  /** Null once an erasure has closed the letter. */
  payload: Buffer | null;
  received_at: Date;
  /** Of an event that is stored, and failed at what follows. */
  resume_point: ResumePoint | null;
}

interface RecordedRow {
  contact_id: string;
  external_id: string;
  event: string;
  occurred_at: Date;
  received_at: Date;
  payload: Record<string, unknown>;
}

/**
 * Runs queued dead letters again, one at a time: the effect and the letter's new state are one transaction, so that two
 * replays have one effect. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class DeadLetterReplayer extends WorkerJob {
  private readonly backoff: ItemBackoff;
  private readonly line: TurnLine;

  constructor(
    private readonly database: Database,
    private readonly failing: FailingEvents,
    private readonly outbox: Outbox,
    signal: ReplaySignal,
    private readonly segments: SegmentFollower,
    clock: Clock,
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of dead_letters', everyMs: LOOK_EVERY_MS, wokenBy: signal });
    this.backoff = new ItemBackoff(JOB, clock);
    this.line = new TurnLine(tenants);
  }

  protected override pass(): Promise<boolean> {
    return this.runAll();
  }

  /** Runs all that is queued; tenants take turns, so that ten thousand letters of one hold up nobody else. */
  async runAll(): Promise<boolean> {
    return this.line.goThrough(
      () => this.waiting(),
      (organizationId, failed) => this.runNext(organizationId, failed),
      () => this.job.stopping,
    );
  }

  private async waiting(): Promise<string[]> {
    const owners = await this.database.acrossOrganizations((tx) =>
      tx.query<{ id: string }>(WAITING, [this.backoff.waiting()]),
    );
    return owners.map(({ id }) => id);
  }

  /** Whether there was one. One that cannot be settled, or loses races, is left queued for a while. */
  private async runNext(organizationId: string, failed: () => void): Promise<boolean> {
    let letter: QueuedLetter | undefined;
    try {
      await this.database.acrossOrganizations(async (tx) => {
        [letter] = await tx.query<QueuedLetter>(NEXT, [this.backoff.waiting(), organizationId]);
        if (!letter) return;
        await tx.useOrganization(letter.organization_id);
        const failure = await this.runStage(tx, letter);
        await (failure ? this.giveBack(tx, letter, failure) : this.settle(tx, letter));
      });
      if (letter) this.backoff.passed(letter.id);
      this.job.progressed();
    } catch (error) {
      if (!letter) throw error;
      failed();
      await this.notRun(letter, error);
    }
    return letter !== undefined;
  }

  /** After several failures in a row the letter is its owner's again, who sees why. */
  private async notRun(letter: QueuedLetter, error: unknown): Promise<void> {
    const attempts = this.backoff.failed(letter.id, error);
    const isAside = ItemBackoff.isAside(attempts);
    // What runs out of time may do so for what it holds; others have their turn meanwhile.
    if (isTransient(error) && !ranOut(error)) throw error;
    if (!isAside) return;
    const { stage } = letter;
    const detail = 'The replay failed; the log has the cause under the correlation id.';
    try {
      await this.database.acrossOrganizations(async (tx) => {
        await tx.useOrganization(letter.organization_id);
        await this.giveBack(tx, letter, { failure: { stage, code: 'internal_error', detail, attempts } });
      });
      this.backoff.passed(letter.id);
    } catch (cause) {
      if (isTransient(cause) && !ranOut(cause)) throw cause;
      log.error({ err: cause, letter: letter.id }, 'A dead letter could not be given back; it stays queued');
    }
  }

  /** From the stage at which the event failed; one that failed after it was stored is not stored again. */
  private async runStage(tx: WorkerTransaction, letter: QueuedLetter): Promise<FailedReplay | undefined> {
    const { stage, resume_point: resumePoint } = letter;
    if (stage === 'loyalty') return undefined;
    if (stage === 'segments' && !resumePoint) {
      const [stored] = await tx.query<{ contactId: string }>(STORED, [
        letter.organization_id,
        letter.event_id,
      ]);
      if (stored) {
        await this.segments.followAgain(tx, { id: letter.event_id, contactId: stored.contactId });
        return undefined;
      }
    }
    const arrival = arrivalOf(letter);
    if (arrival.failure) return { failure: { ...arrival.failure, ...(resumePoint && { stage }) } };
    return resumePoint
      ? this.failing.resume(tx, arrival, resumePoint)
      : this.failing.replay(tx, arrival, letter.id);
  }

  private async settle(tx: WorkerTransaction, letter: QueuedLetter): Promise<void> {
    await tx.query(SETTLE, [letter.organization_id, letter.id]);
    await this.outbox.append(tx, await this.replayedEvent(tx, letter));
  }

  private async giveBack(tx: WorkerTransaction, letter: QueuedLetter, failed: FailedReplay): Promise<void> {
    const { stage, code, detail, attempts, closed } = failed.failure;
    const { resumePoint } = failed;
    if (closed !== undefined) {
      await tx.query(CLOSE, [letter.organization_id, letter.id, closed, stage, detail]);
      return;
    }
    await tx.query(GIVE_BACK, [
      letter.organization_id,
      letter.id,
      stage,
      code,
      detail,
      attempts,
      resumePoint ? JSON.stringify(resumePoint) : null,
      resumePoint?.contactId ?? null,
    ]);
  }

  /** Loyalty runs its stage by itself, on the event that it is given again. */
  private async replayedEvent(tx: WorkerTransaction, letter: QueuedLetter): Promise<NewDomainEvent> {
    const { organization_id: organizationId, event_id: eventId, stage } = letter;
    const [row] = stage === 'loyalty' ? await tx.query<RecordedRow>(RECORDED, [organizationId, eventId]) : [];
    return {
      type: 'core.dead_letter.replayed.v1',
      organizationId,
      key: eventId,
      subject: `dead-letters/${letter.id}`,
      correlationId: eventId,
      data: { event_id: eventId, stage, recorded: row ? recordedOf(eventId, row) : null },
    };
  }
}

function arrivalOf(letter: QueuedLetter): Arrival {
  const event = {
    organizationId: letter.organization_id,
    eventId: letter.event_id,
    kind: letter.type,
    receivedAt: letter.received_at.getTime(),
    body: letter.payload ?? Buffer.alloc(0),
  };
  return readArrival(event, NO_PARTITION);
}

function recordedOf(eventId: string, row: RecordedRow) {
  const { contact_id, external_id, event, payload: properties } = row;
  const times = { occurred_at: row.occurred_at.toISOString(), received_at: row.received_at.toISOString() };
  return { event_id: eventId, contact_id, external_id, event, ...times, properties };
}
