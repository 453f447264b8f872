import { Injectable } from '@nestjs/common';
import { isTransient, postgresFailure, type WorkerTransaction } from '@customer-platform/database';
import { log, runWithCorrelation } from '@customer-platform/http';
import { ChunkProcessor, type ProcessingOptions, type Progress } from './chunk-processor.js';
import { RaceLost } from './contact-state.js';
import { ERASURE_FAILURE, SubjectErased } from './erased-people.js';
import { isLate } from './remainder.js';
import { failed, type Arrival, type Failure, type Remainder } from './work-item.js';

/** Why an event did not come through, and, where it is stored all the same, what is left of it. */
export interface Setback {
  readonly failure: Failure;
  readonly remainder?: Remainder;
}

interface Attempting extends ProcessingOptions {
  readonly racesCount?: boolean;
}

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

  /**
   * @param racesCount the events have lost so many races that to lose another is a failure like any other
   * @throws what says that the database is away, and RaceLost unless races count; never because of an event
   */
  async process(tx: WorkerTransaction, arrivals: readonly Arrival[], racesCount = false): Promise<void> {
    const [first] = arrivals;
    if (!first) return;
    if (arrivals.length === 1) return this.single(tx, first, racesCount);
    if ((await this.attempt(tx, arrivals, { racesCount })) === undefined) return;
    const middle = arrivals.length >> 1;
    await this.process(tx, arrivals.slice(0, middle), racesCount);
    await this.process(tx, arrivals.slice(middle), racesCount);
  }

  private async single(tx: WorkerTransaction, arrival: Arrival, racesCount: boolean): Promise<void> {
    let failure: Failure | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      failure = await this.attempt(tx, [arrival], { racesCount });
      if (!failure) return;
    }
    if (!failure) return;
    const { remainder, failure: last } = await this.storeOnly(tx, arrival, failure, { racesCount });
    if (!remainder)
      await this.processor.process(tx, [failed(arrival, { ...last, attempts: ATTEMPTS })], {
        stage: 'store',
      });
  }

  /** Runs the event of a dead letter that is not stored; undefined once it has come through. */
  async replay(tx: WorkerTransaction, arrival: Arrival, letterId: string): Promise<Setback | undefined> {
    const letters = [letterId];
    const failure = await this.attempt(tx, [arrival], { letters });
    return failure && this.storeOnly(tx, arrival, failure, { letters });
  }

  /** Stores an event that fails at a stage past `store`; not where it can go no further than that either. */
  private async storeOnly(
    tx: WorkerTransaction,
    arrival: Arrival,
    failure: Failure,
    options: Attempting = {},
  ): Promise<Setback> {
    let last = failure;
    while (isLate(last.stage)) {
      const halted = { ...last, attempts: options.letters ? 1 : ATTEMPTS };
      const progress: Progress = { stage: 'resolve' };
      const again = await this.attempt(tx, [arrival], { ...options, halted }, progress);
      if (!again) return { failure: halted, remainder: progress.remainder };
      last = again;
    }
    return { failure: last };
  }

  /** Runs the events behind a savepoint; the failure if they are at fault, and nothing of them has happened then. */
  private attempt(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    { racesCount = false, ...options }: Attempting = {},
    progress: Progress = { stage: 'resolve' },
  ): Promise<Failure | undefined> {
    const only = arrivals.length === 1 ? arrivals[0]?.eventId : undefined;
    const work = (): Promise<void> => this.processor.process(tx, arrivals, progress, options);
    return attempted(tx, progress, only, work, racesCount);
  }
}

/**
 * Does the work behind a savepoint: of what fails because of an event nothing has happened, and the failure says where
 * it was. It is logged where it is the failure of one event.
 * @param racesCount whether to lose a race is the event's failure too
 * @throws RaceLost unless they count, and what says that the database is away
 */
export async function attempted(
  tx: WorkerTransaction,
  progress: Progress,
  eventId: string | undefined,
  work: () => Promise<void>,
  racesCount = false,
): Promise<Failure | undefined> {
  await tx.query('SAVEPOINT attempt');
  try {
    await work();
    await tx.query('RELEASE SAVEPOINT attempt');
    return undefined;
  } catch (error) {
    if (isTransient(error) || (error instanceof RaceLost && !racesCount)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT attempt');
    await tx.query('RELEASE SAVEPOINT attempt');
    if (error instanceof SubjectErased) return ERASURE_FAILURE;
    if (eventId !== undefined) {
      runWithCorrelation(eventId, () => log.error({ err: error, stage: progress.stage }, 'An event failed'));
    }
    return { stage: progress.stage, ...publicReason(error), attempts: 1 };
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
