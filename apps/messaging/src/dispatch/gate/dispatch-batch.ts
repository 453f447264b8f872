import { Injectable } from '@nestjs/common';
import { Clock, isAway, isTransient } from '@customer-platform/database';
import { ItemBackoff, log } from '@customer-platform/http';
import { isFinal } from '../../vocabulary/sends/send-state.js';
import type { ClaimedSend } from './claimed-send.js';
import type { ReadySend } from './dispatch-decision.js';
import { GatePassage, type InFlightSend } from './gate-passage.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { SendPreparation } from './preparation.js';
import { firstReady, type PreparedSend } from './prepared-sends.js';
import { Settlement } from './settlement.js';
import { Lease } from '../transports/transport.js';
import { Transports } from '../transports/transports.js';

/**
 * A batch that fails is taken apart for so long after it has begun: it may have run into the database's time limit, as
 * each of its sends may alone, and who begins another one within this ends it by about when all claims run out.
 */
const APART_MS = 20_000;

/** Sends that can neither go on nor end, of all dispatchers of this process; each is taken up again once its claim has run out. */
@Injectable()
export class StuckSends extends ItemBackoff {
  constructor(clock: Clock) {
    super('dispatch', clock);
  }
}

/** Whoever runs batches: told when a send is out of hand, and asked whether it still is the time to begin. */
export interface BatchOwner {
  /** The process is ending: what has not passed the gate goes back. */
  readonly stopping: boolean;
  /** How long all of a batch may take to be prepared before what is ready goes on without the rest. */
  readonly patienceMs: number;
  /** A hand-off that goes on after its batch has ended. */
  inFlight(send: ClaimedSend, work: Promise<void>): void;
  /** Sends whose preparation goes on after their batch has ended; `work` ends when all of them are out of hand. */
  late(sends: readonly ClaimedSend[], work: Promise<void>): void;
}

/** A batch on its way, and until when it is taken apart. */
interface BatchRun {
  readonly owner: BatchOwner;
  readonly apart: Lease;
}

/** One batch on its way: settle what a crash left → prepare → gate → hand off → record. */
@Injectable()
export class DispatchBatch {
  constructor(
    private readonly preparation: SendPreparation,
    private readonly gate: GatePassage,
    private readonly transports: Transports,
    private readonly recorder: OutcomeRecorder,
    private readonly settlement: Settlement,
    private readonly stuck: StuckSends,
  ) {}

  async process(
    sends: readonly ClaimedSend[],
    owner: BatchOwner,
    apart = Lease.from(performance.now(), APART_MS),
  ): Promise<void> {
    const run: BatchRun = { owner, apart };
    const lost = sends.filter(({ previous }) => previous === 'dispatching');
    // Its provider may have reported on it since: what is final and due has an address to be suppressed.
    const bounced = sends.filter(({ previous }) => isFinal(previous));
    const open = sends.filter(({ previous }) => previous !== 'dispatching' && !isFinal(previous));
    await Promise.all([
      this.giveUp(lost, run),
      ...bounced.map((send) => this.settlement.suppressBounced(send)),
      open.length > 0 ? this.dispatch(open, run) : undefined,
    ]);
  }

  private async dispatch(sends: readonly ClaimedSend[], run: BatchRun): Promise<void> {
    const { owner } = run;
    let prepared: PreparedSend[];
    try {
      prepared = await this.preparation.begin(sends);
    } catch (error) {
      await this.takeApart(sends, run, error);
      return;
    }
    const { ready, late } = await firstReady(prepared, owner.patienceMs);
    if (late.length > 0) {
      const following = this.follow(late, run);
      owner.late(
        late.map(({ send }) => send),
        following,
      );
    }
    await this.goOn(ready, run);
  }

  /** What is slow goes on as it is prepared, and keeps nobody else from the gate. */
  private async follow(prepared: readonly PreparedSend[], run: BatchRun): Promise<void> {
    let left = prepared;
    while (left.length > 0) {
      const { ready, late } = await firstReady(left, run.owner.patienceMs);
      await this.goOn(ready, run);
      left = late;
    }
  }

  private async goOn(prepared: readonly PreparedSend[], run: BatchRun): Promise<void> {
    let passed: InFlightSend[];
    try {
      passed = await this.throughGate(prepared, run.owner);
    } catch (error) {
      await this.takeApart(
        prepared.map(({ send }) => send),
        run,
        error,
      );
      return;
    }
    for (const { send } of prepared) this.stuck.passed(send.id);
    for (const flight of passed) run.owner.inFlight(flight.ready.send, this.handOff(flight));
  }

  private async throughGate(prepared: readonly PreparedSend[], owner: BatchOwner): Promise<InFlightSend[]> {
    const decisions = await Promise.all(prepared.map(({ decision }) => decision));
    const ready = decisions.filter((decision): decision is ReadySend => decision.kind === 'ready');
    await this.settlement.settle(decisions.filter((decision) => decision.kind !== 'ready'));
    if (!owner.stopping) return this.gate.pass(ready);
    const until = new Date();
    await this.settlement.settle(ready.map(({ send }) => ({ kind: 'later', send, until })));
    return [];
  }

  /**
   * When the database is away all claims run out; a single send that breaks its batch is found by trying each alone. One
   * that runs into a time limit alone has not failed: it is taken up again once its claim has run out.
   */
  private async takeApart(sends: readonly ClaimedSend[], run: BatchRun, error: unknown): Promise<void> {
    if (isAway(error) || run.owner.stopping) throw error;
    log.error({ err: error, sends: sends.length }, 'A batch of sends could not be dispatched');
    const [only] = sends;
    if (sends.length > 1) await this.eachAlone(sends, run, (send) => this.dispatch([send], run));
    else if (only) await this.fail(only, error);
  }

  /**
   * At least one, the rest while there is time: what is left is taken up again once its claim has run out, and then those
   * that have failed alone come last.
   */
  private async eachAlone(
    sends: readonly ClaimedSend[],
    { apart }: BatchRun,
    work: (send: ClaimedSend) => Promise<void>,
  ): Promise<void> {
    const inTurn = sends.toSorted((a, b) => this.stuck.attempts(a.id) - this.stuck.attempts(b.id));
    for (const [at, send] of inTurn.entries()) {
      if (at > 0 && apart.over) {
        log.warn(
          { sends: inTurn.length - at },
          'Sends of a batch that failed are left to who takes them up next',
        );
        return;
      }
      await work(send);
    }
  }

  /** Ends one that has failed alone several times: the fault may be ours, and pass. Until then its claim runs out. */
  private async fail(send: ClaimedSend, error: unknown): Promise<void> {
    const attempts = this.stuck.failed(send.id, error);
    if (isTransient(error) || !ItemBackoff.isAside(attempts)) return;
    try {
      await this.settlement.settle([{ kind: 'end', send, state: 'failed', reason: 'internal_error' }]);
      this.stuck.passed(send.id);
    } catch (failure) {
      if (isAway(failure)) throw failure;
      log.error({ err: failure, send: send.id }, 'A send that fails cannot be ended either');
    }
  }

  /** As `takeApart`: one that cannot be given up keeps none of the others as they are. */
  private async giveUp(lost: readonly ClaimedSend[], run: BatchRun): Promise<void> {
    try {
      await this.settlement.giveUp(lost);
    } catch (error) {
      if (isAway(error) || run.owner.stopping) throw error;
      const [only] = lost;
      if (lost.length > 1) await this.eachAlone(lost, run, (send) => this.giveUp([send], run));
      else if (only) this.stuck.failed(only.id, error);
    }
  }

  /** Written down one by one as they end: a slow server holds back nobody's record. */
  private async handOff(flight: InFlightSend): Promise<void> {
    const { plan, message } = flight.ready;
    const handOff = await this.transports.of(plan).handOff(message, flight.lease);
    await this.recorder.record({ flight, handOff });
  }
}
