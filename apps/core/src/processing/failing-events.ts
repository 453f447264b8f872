import { Injectable } from '@nestjs/common';
import { isTransient, postgresFailure, type WorkerTransaction } from '@customer-platform/database';
import { log, runWithCorrelation } from '@customer-platform/http';
import { RaceLost } from './chunk-contact.js';
import { ERASURE_FAILURE, SubjectErased } from './erased-people.js';
import { resumePointOf, type Effect } from './event-effects.js';
import { EventProcessor, type ProcessingOptions, type Progress } from './event-processor.js';
import {
  failed,
  type Arrival,
  type FailedItem,
  type Failure,
  type ResumePoint,
  type Stage,
  type WorkItem,
} from './work-item.js';

/** Why a replay did not come through, and, where the event is stored all the same, from where it is to go on. */
export type FailedReplay = Pick<FailedItem, 'failure' | 'resumePoint'>;

interface AttemptOptions extends ProcessingOptions {
  readonly racesCount?: boolean;
}

/** How often an event is tried before it goes to the dead letters. */
const ATTEMPTS = 3;

/** What an event that fails here is stored without; a replay then runs all of it. */
const PAST_STORE: readonly Stage[] = ['profile', 'segments', 'emit'];

/**
 * What becomes of events that fail. Events of which some fails are halved until those at fault stand alone; each is
 * tried three times, then stored alone if it failed past `store`, and becomes a dead letter. A replay runs a letter's
 * event from where it was set aside. All of it in the caller's transaction, each attempt behind a savepoint, in the
 * order of arrival: a poison event holds back nobody, its own contact's later events included, nor does one of which
 * not even a letter can be written.
 */
@Injectable()
export class FailingEvents {
  constructor(private readonly processor: EventProcessor) {}

  /**
   * @param racesCount the events have lost so many races that to lose another is a failure like any other
   * @returns those of which no letter can be written either: nothing has become of them
   * @throws what says that the database is away, and RaceLost unless races count; never because of an event
   */
  async process(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    racesCount = false,
  ): Promise<readonly Arrival[]> {
    const [first] = arrivals;
    if (!first) return [];
    if (arrivals.length === 1) return this.processAlone(tx, first, racesCount);
    if (!('failure' in (await this.attempt(tx, arrivals, { racesCount })))) return [];
    const middle = arrivals.length >> 1;
    return [
      ...(await this.process(tx, arrivals.slice(0, middle), racesCount)),
      ...(await this.process(tx, arrivals.slice(middle), racesCount)),
    ];
  }

  private async processAlone(
    tx: WorkerTransaction,
    arrival: Arrival,
    racesCount: boolean,
  ): Promise<readonly Arrival[]> {
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.attempt(tx, [arrival], { racesCount });
      if (!('failure' in outcome)) return [];
      if (attempts < ATTEMPTS) continue;
      const failure = { ...outcome.failure, attempts };
      const stored = await this.storeOnly(tx, arrival, failure, { racesCount });
      if (!('failure' in stored)) return [];
      const letter = failed(arrival, { ...stored.failure, attempts });
      return 'failure' in (await this.attempt(tx, [letter], { racesCount })) ? [arrival] : [];
    }
  }

  /** Runs the event of a dead letter that is not stored; undefined once it has come through. */
  async replay(tx: WorkerTransaction, arrival: Arrival, letterId: string): Promise<FailedReplay | undefined> {
    const outcome = await this.attempt(tx, [arrival], { letterId });
    if (!('failure' in outcome)) return undefined;
    const stored = await this.storeOnly(tx, arrival, outcome.failure, { letterId });
    if ('failure' in stored) return stored;
    const [effect] = stored.effects;
    return { ...outcome, ...(effect && { resumePoint: resumePointOf(effect) }) };
  }

  /** Runs what follows the store of an event that was stored without; undefined once it has come through. */
  async resume(tx: WorkerTransaction, item: WorkItem, from: ResumePoint): Promise<FailedReplay | undefined> {
    const outcome = await attempted(tx, item.eventId, async (progress) => {
      await this.processor.resume(tx, item, from, progress);
      return {};
    });
    return 'failure' in outcome ? outcome : undefined;
  }

  /** Stores an event that fails past `store`; the failure where that is not so, or it cannot be stored either. */
  private async storeOnly(
    tx: WorkerTransaction,
    arrival: Arrival,
    failure: Failure,
    options: AttemptOptions,
  ): Promise<{ effects: readonly Effect[] } | { failure: Failure }> {
    if (!PAST_STORE.includes(failure.stage)) return { failure };
    return this.attempt(tx, [arrival], { ...options, storeOnly: failure });
  }

  private attempt(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    { racesCount, ...options }: AttemptOptions,
  ): Promise<{ effects: readonly Effect[] } | { failure: Failure }> {
    const only = arrivals.length === 1 ? arrivals[0]?.eventId : undefined;
    const work = async (progress: Progress) => ({
      effects: await this.processor.process(tx, arrivals, progress, options),
    });
    return attempted(tx, only, work, racesCount);
  }
}

/**
 * Does the work behind a savepoint: of what fails because of an event nothing has happened, and the failure says where
 * it was. It is logged where it is the failure of one event.
 * @param racesCount whether to lose a race is the event's failure too
 * @throws RaceLost unless they count, and what says that the database is away
 */
async function attempted<T extends object>(
  tx: WorkerTransaction,
  eventId: string | undefined,
  work: (progress: Progress) => Promise<T>,
  racesCount = false,
): Promise<T | { failure: Failure }> {
  const progress: Progress = { stage: 'resolve' };
  await tx.query('SAVEPOINT attempt');
  try {
    const outcome = await work(progress);
    await tx.query('RELEASE SAVEPOINT attempt');
    return outcome;
  } catch (error) {
    if (isTransient(error) || (error instanceof RaceLost && !racesCount)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT attempt');
    await tx.query('RELEASE SAVEPOINT attempt');
    if (error instanceof SubjectErased) return { failure: ERASURE_FAILURE };
    const { stage } = progress;
    if (eventId !== undefined) {
      runWithCorrelation(eventId, () => log.error({ err: error, stage }, 'An event failed'));
    }
    return { failure: { stage, ...publicReason(error), attempts: 1 } };
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
