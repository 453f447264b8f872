import { Injectable } from '@nestjs/common';
import { isTransient, postgresFailure, type WorkerTransaction } from '@customer-platform/database';
import { log, runWithCorrelation } from '@customer-platform/http';
import { ChunkProcessor, type Progress, type ReplayOptions } from './chunk-processor.js';
import { RaceLost } from './contact-state.js';
import { failed, type Arrival, type Failure } from './work-item.js';

/** How often an event is tried before it goes to the dead letters. */
export const ATTEMPTS = 3;

/**
 * Processes a chunk of which some event fails: halves it until the events at fault stand alone, and sets those aside
 * as dead letters. All of it in the caller's transaction, each part behind a savepoint, in the order of arrival: a
 * poison event holds back nobody, its own contact's later events included.
 */
@Injectable()
export class CarefulProcessor {
  constructor(private readonly processor: ChunkProcessor) {}

  /** @throws RaceLost and what says that the database is away; never because of an event */
  async process(tx: WorkerTransaction, arrivals: readonly Arrival[]): Promise<void> {
    const [first] = arrivals;
    if (!first) return;
    if (arrivals.length === 1) return this.single(tx, first);
    if ((await this.attempt(tx, arrivals)) === undefined) return;
    const middle = arrivals.length >> 1;
    await this.process(tx, arrivals.slice(0, middle));
    await this.process(tx, arrivals.slice(middle));
  }

  private async single(tx: WorkerTransaction, arrival: Arrival): Promise<void> {
    let failure: Failure | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      failure = await this.attempt(tx, [arrival]);
      if (!failure) return;
    }
    if (failure)
      await this.processor.process(tx, [failed(arrival, { ...failure, attempts: ATTEMPTS })], {
        stage: 'store',
      });
  }

  /** Runs the events behind a savepoint; the failure if they are at fault, and nothing of them has happened then. */
  async attempt(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    replay?: ReplayOptions,
  ): Promise<Failure | undefined> {
    const progress: Progress = { stage: 'resolve' };
    await tx.query('SAVEPOINT attempt');
    try {
      await this.processor.process(tx, arrivals, progress, replay);
      await tx.query('RELEASE SAVEPOINT attempt');
      return undefined;
    } catch (error) {
      if (error instanceof RaceLost || isTransient(error)) throw error;
      await tx.query('ROLLBACK TO SAVEPOINT attempt');
      await tx.query('RELEASE SAVEPOINT attempt');
      const [only] = arrivals;
      if (only && arrivals.length === 1) {
        runWithCorrelation(only.eventId, () =>
          log.error({ err: error, stage: progress.stage }, 'An event failed'),
        );
      }
      return { stage: progress.stage, ...publicReason(error), attempts: 1 };
    }
  }
}

/** What may be said of an error: the log has the rest, by the event's id. */
function publicReason(error: unknown): { code: string; detail: string } {
  const refused = postgresFailure(error);
  if (refused?.code.startsWith('22')) {
    return { code: 'value_not_storable', detail: 'The database cannot hold a value of the event.' };
  }
  return {
    code: 'internal_error',
    detail: 'The processing failed; the log has the cause under the correlation id.',
  };
}
