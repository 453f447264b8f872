import { Injectable } from '@nestjs/common';
import { isTransient } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { isFinal } from '../sends/send-state.js';
import type { ClaimedSend } from './claimed-send.js';
import type { ReadySend } from './dispatch-decision.js';
import { GatePassage, type InFlightSend } from './gate-passage.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { SendPreparation } from './preparation.js';
import { firstReady, type PreparedSend } from './prepared-sends.js';
import { Settlement } from './settlement.js';
import { Transports } from './transports/transports.js';

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

/** One batch on its way: settle what a crash left → prepare → gate → hand off → record. */
@Injectable()
export class DispatchBatch {
  constructor(
    private readonly preparation: SendPreparation,
    private readonly gate: GatePassage,
    private readonly transports: Transports,
    private readonly recorder: OutcomeRecorder,
    private readonly settlement: Settlement,
  ) {}

  async process(sends: readonly ClaimedSend[], owner: BatchOwner): Promise<void> {
    const lost = sends.filter(({ previous }) => previous === 'dispatching');
    // Its provider may have reported on it since: what is final and due has an address to be suppressed.
    const bounced = sends.filter(({ previous }) => isFinal(previous));
    const open = sends.filter(({ previous }) => previous !== 'dispatching' && !isFinal(previous));
    await Promise.all([
      this.settlement.giveUp(lost),
      ...bounced.map((send) => this.settlement.suppressBounced(send)),
      open.length > 0 ? this.dispatch(open, owner) : undefined,
    ]);
  }

  private async dispatch(sends: readonly ClaimedSend[], owner: BatchOwner): Promise<void> {
    let prepared: PreparedSend[];
    try {
      prepared = await this.preparation.begin(sends);
    } catch (error) {
      await this.takeApart(sends, owner, error);
      return;
    }
    const { ready, late } = await firstReady(prepared, owner.patienceMs);
    if (late.length > 0) {
      const following = this.follow(late, owner);
      owner.late(
        late.map(({ send }) => send),
        following,
      );
    }
    await this.goOn(ready, owner);
  }

  /** What is slow goes on as it is prepared, and keeps nobody else from the gate. */
  private async follow(prepared: readonly PreparedSend[], owner: BatchOwner): Promise<void> {
    let left = prepared;
    while (left.length > 0) {
      const { ready, late } = await firstReady(left, owner.patienceMs);
      await this.goOn(ready, owner);
      left = late;
    }
  }

  private async goOn(prepared: readonly PreparedSend[], owner: BatchOwner): Promise<void> {
    let passed: InFlightSend[];
    try {
      passed = await this.throughGate(prepared, owner);
    } catch (error) {
      await this.takeApart(
        prepared.map(({ send }) => send),
        owner,
        error,
      );
      return;
    }
    for (const flight of passed) owner.inFlight(flight.ready.send, this.handOff(flight));
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

  /** When the database is away all claims run out; a single send that breaks its batch is found by trying each alone. */
  private async takeApart(sends: readonly ClaimedSend[], owner: BatchOwner, error: unknown): Promise<void> {
    if (isTransient(error) || owner.stopping) throw error;
    log.error({ err: error, sends: sends.length }, 'A batch of sends could not be dispatched');
    const [only] = sends;
    if (sends.length > 1) for (const send of sends) await this.dispatch([send], owner);
    else if (only)
      await this.settlement.settle([{ kind: 'end', send: only, state: 'failed', reason: 'internal_error' }]);
  }

  /** Written down one by one as they end: a slow server holds back nobody's record. */
  private async handOff(flight: InFlightSend): Promise<void> {
    const { plan, message } = flight.ready;
    const handOff = await this.transports.of(plan).handOff(message, flight.lease);
    await this.recorder.record({ flight, handOff });
  }
}
