import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { newId, type Transaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { ConsentRecorder } from '../consents/consent-recorder.js';
import type { ConsentEventRow, ConsentStatus } from '../../vocabulary/consents/consent.js';
import { BY_MERGE, ConsentsRepository, type DecidedState } from '../consents/consents.repository.js';
import type { ComparedConsent } from './merge-outcome.js';

/** core.md §4: of two states the stricter. */
const STRICTEST: readonly ConsentStatus[] = ['withdrawn', 'denied', 'expired', 'granted'];

interface Pair {
  readonly purpose: string;
  readonly channel: string | null;
}

/** A state that is said once more, as of an instant, with the notice and proof of the event that it repeats. */
interface Saying {
  readonly status: ConsentStatus;
  readonly source: ConsentEventRow | undefined;
  readonly at: Date;
  readonly recordedAt: Date;
  readonly toldBefore?: ConsentStatus;
}

/** Of a pair: what held of both together, and what is to hold of the survivor alone. */
interface Parted {
  readonly pair: Pair;
  readonly before: DecidedState;
  readonly own: DecidedState | undefined;
}

/** The merge that is undone. */
interface UndoneMerge {
  readonly at: Date;
  /** When this one and others of the survivor that are undone were carried out and undone. */
  readonly repeatedAt: readonly Date[];
}

/** The ids under which the consents of each of the two stand. */
export interface Families {
  readonly survivor: readonly string[];
  readonly merged: readonly string[];
}

/** The survivor's id, and both families. */
interface MergedConsents extends Families {
  readonly survivorId: string;
  readonly mergedId: string;
}

/**
 * The consents of contacts that merge. Their histories stay under the ids they were recorded for and are read as one;
 * where that alone would be milder than the stricter of the two, what holds is said once more, in an event of its own.
 */
@Injectable()
export class MergeConsents {
  constructor(
    private readonly consents: ConsentsRepository,
    private readonly recorder: ConsentRecorder,
    private readonly outbox: Outbox,
  ) {}

  /** What holds of each and what is to hold of both, for every pair of which anything was said. */
  async compare(tx: Transaction, { survivor, merged }: Families): Promise<ComparedConsent[]> {
    const now = await this.recorder.presentOf(tx, [...survivor, ...merged]);
    const pairs = await this.pairsOf(tx, [...survivor, ...merged], now);
    const compared: ComparedConsent[] = [];
    for (const pair of pairs) {
      const own = await this.consents.stateOf(tx, survivor, pair, now);
      const other = await this.consents.stateOf(tx, merged, pair, now);
      const result = strictest([own?.status, other?.status]);
      if (result === undefined) continue;
      compared.push({ ...pair, survivor: own?.status ?? null, merged: other?.status ?? null, result });
    }
    return compared;
  }

  /** Makes the stricter of the two hold, and tells of what is another state now for the survivor. */
  async merge(
    tx: Transaction,
    context: AuditContext,
    of: MergedConsents,
    compared: readonly ComparedConsent[],
    recordedAt: Date,
  ): Promise<void> {
    const ids = [...of.survivor, ...of.merged];
    const now = await this.recorder.presentOf(tx, ids);
    for (const { purpose, channel, survivor, result } of allChannelsFirst(compared)) {
      const pair = { purpose, channel };
      const state = await this.consents.stateOf(tx, ids, pair, now);
      if (state && state.status !== result) {
        // A channel's own state is said after what is about all channels, which decides for each of them.
        const at = channel === null ? justBefore(now) : now;
        const source = await this.consents.latestWith(tx, ids, pair, result, now);
        const saying = { status: result, source, at, recordedAt };
        await this.say(tx, context, { contactId: of.survivorId, ids }, pair, saying);
      } else if (state && survivor !== result) {
        await this.tell(tx, context, of.survivorId, pair, state, survivor);
      }
    }
  }

  /**
   * After the two have parted: what the other was refused since goes to both, and of the survivor holds what it has said
   * itself, until now, with what was said since. Dated as early as will do: what is said late still counts.
   */
  async part(
    tx: Transaction,
    context: AuditContext,
    of: MergedConsents,
    merge: UndoneMerge,
    recordedAt: Date,
  ): Promise<void> {
    await this.shareRefusals(tx, context, of, merge.at);
    await this.tellEnded(tx, context, of, merge.at);
    const subject = { contactId: of.survivorId, ids: of.survivor };
    const now = await this.recorder.presentOf(tx, [...of.survivor, ...of.merged]);
    for (const { pair, before, own } of await this.partedPairs(tx, of, merge, now)) {
      const live = await this.consents.stateOf(tx, of.survivor, pair, now);
      if (!live) {
        await this.tell(tx, context, of.survivorId, pair, goneAfter(before.occurred_at, now), before.status);
        continue;
      }
      const { status, event_id: id } = own ?? live;
      if (live.status === status && before.status === status) continue;
      const at = justAfter(before.occurred_at, live.occurred_at, now);
      const source = await this.consents.byId(tx, id);
      const saying = { status, source, at, recordedAt, toldBefore: before.status };
      await this.say(tx, context, subject, pair, saying);
    }
  }

  private async partedPairs(
    tx: Transaction,
    of: MergedConsents,
    { repeatedAt }: UndoneMerge,
    now: Date,
  ): Promise<Parted[]> {
    const together = [...of.survivor, ...of.merged];
    const parted: Parted[] = [];
    for (const pair of allChannelsFirst(await this.pairsOf(tx, together, now))) {
      const before = await this.consents.stateOf(tx, together, pair, now);
      const own = await this.consents.stateOf(tx, of.survivor, pair, now, repeatedAt);
      if (before) parted.push({ pair, before, own });
    }
    return parted;
  }

  /** Withdrawals and refusals said of the survivor since the merge hold for the other too (core.md §4). */
  private async shareRefusals(
    tx: Transaction,
    context: AuditContext,
    of: MergedConsents,
    since: Date,
  ): Promise<void> {
    const rows = await this.consents.refusalsSince(tx, of.survivor, since, BY_MERGE);
    for (const row of rows) {
      const subject = { contactId: of.mergedId, ids: of.merged };
      const copy = { ...row, id: newId(), ...actorOf(context) };
      await this.recorder.record(tx, context, subject, copy, { cause: 'merge' });
    }
  }

  /** Tells the end of what the other was granted: meanwhile it was told of the survivor, if at all. */
  private async tellEnded(
    tx: Transaction,
    context: AuditContext,
    { merged, mergedId }: MergedConsents,
    since: Date,
  ): Promise<void> {
    const states = await this.consents.allStates(tx, merged, await this.recorder.presentOf(tx, merged));
    for (const { purpose, channel, ...state } of states)
      if (state.status === 'expired' && state.expires_at !== null && state.expires_at > since)
        await this.tell(tx, context, mergedId, { purpose, channel }, state, 'granted');
  }

  private async pairsOf(tx: Transaction, ids: readonly string[], now: Date): Promise<Pair[]> {
    const states = await this.consents.allStates(tx, ids, now);
    return states.map(({ purpose, channel }) => ({ purpose, channel }));
  }

  private async say(
    tx: Transaction,
    context: AuditContext,
    subject: { contactId: string; ids: readonly string[] },
    pair: Pair,
    { status, source, at, recordedAt, toldBefore }: Saying,
  ): Promise<void> {
    if (!source) throw new Error('What is to hold of a consent was never said');
    const isOver = status === 'expired';
    const repeated = {
      ...source,
      ...pair,
      id: newId(),
      // A grant that has ended is said as one that ends as it is said.
      status: isOver ? 'granted' : status,
      expires_at: isOver ? at : source.expires_at,
      method: BY_MERGE,
      occurred_at: at,
      ...actorOf(context),
    };
    await this.recorder.record(tx, context, subject, repeated, {
      cause: 'merge',
      recordedAt,
      ...(toldBefore ? { toldBefore } : {}),
    });
  }

  /** What follows from the histories alone: nothing is to be recorded, but others keep states and must hear of it. */
  private async tell(
    tx: Transaction,
    context: AuditContext,
    contactId: string,
    pair: Pair,
    state: Pick<DecidedState, 'status' | 'occurred_at'>,
    previous: ConsentStatus | null,
  ): Promise<void> {
    await this.outbox.append(tx, {
      type: 'core.consent.recorded.v1',
      organizationId: context.organizationId,
      key: contactId,
      subject: `contacts/${contactId}`,
      correlationId: context.correlationId,
      time: state.occurred_at.toISOString(),
      data: { contact_id: contactId, ...pair, status: state.status, previous },
    });
  }
}

/**
 * Nothing was ever said of the survivor itself: to whoever keeps states, as good as a grant that has ended, which neither
 * permits nor forbids.
 */
function goneAfter(told: Date, now: Date): Pick<DecidedState, 'status' | 'occurred_at'> {
  return { status: 'expired', occurred_at: justAfter(told, told, now) };
}

function allChannelsFirst<P extends Pair>(pairs: readonly P[]): P[] {
  return [...pairs].sort((a, b) => Number(a.channel !== null) - Number(b.channel !== null));
}

function justBefore(instant: Date): Date {
  return new Date(instant.getTime() - 1);
}

function justAfter(one: Date, other: Date, now: Date): Date {
  return new Date(Math.min(Math.max(one.getTime(), other.getTime()) + 1, now.getTime()));
}

function strictest(states: readonly (ConsentStatus | undefined)[]): ConsentStatus | undefined {
  return STRICTEST.find((status) => states.includes(status));
}

function actorOf({ actor, correlationId }: AuditContext) {
  return {
    actor_type: actor.type,
    actor_id: actor.id,
    impersonator_id: actor.impersonatorId ?? null,
    correlation_id: correlationId,
  };
}
