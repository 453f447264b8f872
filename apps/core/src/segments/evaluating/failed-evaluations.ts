import { Injectable } from '@nestjs/common';
import { isTransient, ranOut, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { log } from '@customer-platform/http';
import { StoredEventLetters } from '../../dead-letters/stored-event-letters.js';
import type { SegmentIndex } from '../../vocabulary/rules/segment-index.js';
import { giveBack, type PendingChange } from './change-queue.js';
import { putOff } from './due-times.js';
import { Evaluation, type Tasks } from './evaluation.js';

/** How often a change is tried before its event goes to the dead letters. */
const ATTEMPTS = 3;

/** Of more contacts it is the database that has no time. */
const MOST_OUT_OF_TIME = 3;

const RETRY_MS = 1_000;
/** What no event can be replayed for is tried again by itself. */
const LATER_MS = 60_000;

/** Evaluates contacts one by one when some of them fail, and sets the failed ones aside: nobody waits for them. */
@Injectable()
export class FailedEvaluations {
  constructor(
    private readonly evaluation: Evaluation,
    private readonly outbox: Outbox,
    private readonly letters: StoredEventLetters,
  ) {}

  /** @throws what says that the database is away, or has no time for anybody; never because of a contact */
  async evaluateSingly(
    tx: Transaction,
    index: SegmentIndex,
    tasks: Tasks,
    changes: readonly PendingChange[],
    now: Date,
  ): Promise<void> {
    let outOfTime = 0;
    for (const [contactId, task] of tasks) {
      try {
        await tx.savepoint(() => this.evaluation.run(tx, index, new Map([[contactId, task]]), now));
      } catch (error) {
        if (ranOut(error)) outOfTime += 1;
        if (isTransient(error) && (!ranOut(error) || outOfTime > MOST_OUT_OF_TIME)) throw error;
        log.error({ err: error, contact_id: contactId }, 'A contact’s segments could not be evaluated');
        await putOff(tx, contactId, new Date(now.getTime() + LATER_MS));
        for (const change of changes) {
          if (change.contact_id === contactId) await this.setAside(tx, change, now);
        }
      }
    }
  }

  private async setAside(tx: Transaction, change: PendingChange, now: Date): Promise<void> {
    const { event_id: eventId } = change;
    const attempts = change.attempts + 1;
    if (attempts < ATTEMPTS) return giveBack(tx, change, new Date(now.getTime() + RETRY_MS * attempts));
    if (eventId === null) return giveBack(tx, change, new Date(now.getTime() + LATER_MS));
    const code = 'internal_error';
    const detail = 'The segments of the contact could not be evaluated after the event.';
    await this.letters.keep(tx, { eventId, stage: 'segments', code, detail, attempts });
    await this.outbox.append(tx, {
      type: 'core.event.dead_lettered.v1',
      organizationId: tx.organizationId,
      key: eventId,
      subject: `events/${eventId}`,
      correlationId: eventId,
      data: { event_id: eventId, stage: 'segments', code },
    });
  }
}
