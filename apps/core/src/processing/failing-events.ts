import { Injectable } from '@nestjs/common';
import {
  isTransient,
  postgresFailure,
  ranOut,
  WriteConflict,
  type WorkerTransaction,
} from '@customer-platform/database';
import { log, metrics, runWithCorrelation, turns } from '@customer-platform/http';
import { Counter } from 'prom-client';
import { ERASURE_FAILURE, SubjectErased } from './erased-people.js';
import { resumePointOf, type Effect } from './event-effects.js';
import { EventProcessor, type ProcessingOptions, type Progress } from './event-processor.js';
import {
  failed,
  withoutContent,
  type Arrival,
  type FailedItem,
  type Failure,
  type ResumePoint,
  type Stage,
  type WorkItem,
} from '../vocabulary/events/work-item.js';

/** Why a replay did not come through, and, where the event is stored all the same, from where it is to go on. */
export type FailedReplay = Pick<FailedItem, 'failure' | 'resumePoint'>;

/** An event of which no letter can be written, because of its values. */
interface Unkept {
  readonly arrival: Arrival;
  readonly failure: Failure;
  readonly error: unknown;
}

/** What came of work that failed because of an event. */
interface Failed {
  readonly failure: Failure;
  readonly error: unknown;
}

interface AttemptOptions extends ProcessingOptions {
  readonly isLast?: boolean;
}

/** What a letter may be refused for by the values of its event: they are no such data, break a constraint, or a limit. */
const OF_VALUES = /^(22|23|54)/;

const blankLetters = new Counter({
  name: 'dead_letters_without_event_total',
  help: 'Dead letters without their event, because the database refused its values there too',
  registers: [metrics],
});

/** How often an event is tried before it goes to the dead letters. */
const ATTEMPTS = 3;

/** What an event that fails here is stored without; a replay then runs all of it. */
const PAST_STORE: readonly Stage[] = ['profile', 'segments', 'emit'];

/**
 * What becomes of events that fail. Events of which some fails are halved until those at fault stand alone; each is
 * tried three times, then stored alone if it failed past `store`, and becomes a dead letter. A replay runs a letter's
 * event from where it was set aside. All of it in the caller's transaction, each attempt behind a savepoint, in the
 * order of arrival: a poison event holds back nobody, its own contact's later events included. One whose values not even
 * a letter can hold has a letter without them. What keeps letters from being written otherwise is no event's fault: the
 * partition stands still until it is mended.
 */
@Injectable()
export class FailingEvents {
  constructor(private readonly processor: EventProcessor) {}

  /**
   * @param isLast the events have lost so many races, or run out of time or memory so often, that another time is a
   *   failure like any other
   * @throws what says that the database is away, what refuses letters whatever is in them, and WriteConflict unless it is the
   *   last time; never because of the values of one event
   */
  async process(tx: WorkerTransaction, arrivals: readonly Arrival[], isLast = false): Promise<void> {
    const unkept = await this.processHalves(tx, arrivals, isLast);
    const [first] = unkept;
    if (!first) return;
    const events = new Set(unkept.map(({ arrival }) => arrival.eventId));
    if (events.size > 1 && unkept.length === arrivals.length) throw first.error;
    const blank = unkept.map(({ arrival, failure }) => withoutContent(arrival, failure));
    await this.processor.process(tx, blank);
    blankLetters.inc(blank.length);
    const ids = [...events];
    log.error(
      { err: first.error, events: ids },
      'Not even dead letters could hold events; theirs are without them',
    );
  }

  /** @returns those of which no letter can be written either: nothing has become of them yet */
  private async processHalves(
    tx: WorkerTransaction,
    arrivals: readonly Arrival[],
    isLast: boolean,
  ): Promise<readonly Unkept[]> {
    const [first] = arrivals;
    if (!first) return [];
    if (arrivals.length === 1) return this.processAlone(tx, first, isLast);
    if (!('failure' in (await this.attempt(tx, arrivals, { isLast })))) return [];
    const middle = arrivals.length >> 1;
    return [
      ...(await this.processHalves(tx, arrivals.slice(0, middle), isLast)),
      ...(await this.processHalves(tx, arrivals.slice(middle), isLast)),
    ];
  }

  private async processAlone(
    tx: WorkerTransaction,
    arrival: Arrival,
    isLast: boolean,
  ): Promise<readonly Unkept[]> {
    for await (const { count: attempts, isLast: isLastTurn } of turns({ most: ATTEMPTS })) {
      const outcome = await this.attempt(tx, [arrival], { isLast });
      if (!('failure' in outcome)) return [];
      if (!isLastTurn) continue;
      const failure = { ...outcome.failure, attempts };
      const stored = await this.storeOnly(tx, arrival, failure, { isLast });
      if (!('failure' in stored)) return [];
      const letter = failed(arrival, { ...stored.failure, attempts });
      const kept = await this.attempt(tx, [letter], { isLast });
      if (!('failure' in kept)) return [];
      const { error } = kept;
      if (!OF_VALUES.test(postgresFailure(error)?.code ?? '')) throw error;
      return [{ arrival, failure: letter.failure, error }];
    }
    return [];
  }

  /** Runs the event of a dead letter that is not stored; undefined once it has come through. */
  async replay(tx: WorkerTransaction, arrival: Arrival, letterId: string): Promise<FailedReplay | undefined> {
    const outcome = await this.attempt(tx, [arrival], { letterId });
    if (!('failure' in outcome)) return undefined;
    const stored = await this.storeOnly(tx, arrival, outcome.failure, { letterId });
    if ('failure' in stored) return { failure: stored.failure };
    const [effect] = stored.effects;
    return { failure: outcome.failure, ...(effect && { resumePoint: resumePointOf(effect) }) };
  }

  /** Runs what follows the store of an event that was stored without; undefined once it has come through. */
  async resume(tx: WorkerTransaction, item: WorkItem, from: ResumePoint): Promise<FailedReplay | undefined> {
    const outcome = await attempted(tx, item.eventId, async (progress) => {
      await this.processor.resume(tx, item, from, progress);
      return {};
    });
    return 'failure' in outcome ? { failure: outcome.failure } : undefined;
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
    { isLast, ...options }: AttemptOptions,
  ): Promise<{ effects: readonly Effect[] } | Failed> {
    const only = arrivals.length === 1 ? arrivals[0]?.eventId : undefined;
    const work = async (progress: Progress) => ({
      effects: await this.processor.process(tx, arrivals, progress, options),
    });
    return attempted(tx, only, work, isLast);
  }
}

/**
 * Does the work behind a savepoint: of what fails because of an event nothing has happened, and the failure says where
 * it was. It is logged where it is the failure of one event.
 * @param isLast whether to lose a race, or to run out of time, is the event's failure too
 * @throws WriteConflict unless it is, and what says that the database is away
 */
async function attempted<T extends object>(
  tx: WorkerTransaction,
  eventId: string | undefined,
  work: (progress: Progress) => Promise<T>,
  isLast = false,
): Promise<T | Failed> {
  const progress: Progress = { stage: 'resolve' };
  await tx.query('SAVEPOINT attempt');
  try {
    const outcome = await work(progress);
    await tx.query('RELEASE SAVEPOINT attempt');
    return outcome;
  } catch (error) {
    const mayPass = error instanceof WriteConflict || ranOut(error);
    if (mayPass ? !isLast : isTransient(error)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT attempt');
    await tx.query('RELEASE SAVEPOINT attempt');
    if (error instanceof SubjectErased) return { failure: ERASURE_FAILURE, error };
    const { stage } = progress;
    if (eventId !== undefined) {
      runWithCorrelation(eventId, () => log.error({ err: error, stage }, 'An event failed'));
    }
    return { failure: { stage, ...publicReason(error), attempts: 1 }, error };
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
