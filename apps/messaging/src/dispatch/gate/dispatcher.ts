import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { log, Pace, SteadyLoop } from '@customer-platform/http';
import { waitAtMost } from '../../background/jobs/wait-at-most.js';
import { WakeableSleep } from '../../background/jobs/wakeable-sleep.js';
import type { MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { Tenants } from '../../background/organizations/tenants.js';
import { DispatchSignal, type DispatchLane } from '../sends/dispatch-signal.js';
import { CAMPAIGN_LANE, LANES } from '../../vocabulary/sends/send.js';
import type { ClaimedSend } from './claimed-send.js';
import { Claims, type DueGroup, type GroupShare } from './claims.js';
import { DispatchBatch, type BatchOwner } from './dispatch-batch.js';
import { fairShares, type Wanting } from './fair-shares.js';
import { holdOf, LateSends } from './late-sends.js';
import { Slots } from './slots.js';
import { TenantTurns, type Turn } from '../../background/organizations/tenant-turns.js';
import { Transports } from '../transports/transports.js';

/** What one dispatcher takes up. */
export interface DispatcherLanes {
  readonly signal: DispatchLane;
  readonly lanes: readonly number[];
  /** Without a signal, sends that become due by time or in other processes are found within this while there are any. */
  readonly pollMs: number;
  /** And within this after half a minute without any. */
  readonly quietPollMs: number;
  /** Of what a transport can carry. */
  readonly share: number;
  /** Renderings take a few milliseconds each; a batch that takes longer than this has a slow template. */
  readonly patienceMs: number;
}

/** Of what is asked for one by one. */
export const GENERAL_LANES: DispatcherLanes = {
  signal: 'general',
  lanes: Object.values(LANES),
  pollMs: 250,
  quietPollMs: 500,
  share: 1,
  patienceMs: 40,
};

/**
 * Of campaigns: in batches of their own and with half of each transport, so that nobody's message waits for a million
 * others to be rendered or to leave.
 */
export const CAMPAIGN_LANES: DispatcherLanes = {
  signal: 'campaign',
  lanes: [CAMPAIGN_LANE],
  pollMs: 500,
  quietPollMs: 2_000,
  share: 0.5,
  // Nobody waits for one of these: a whole batch of one organization goes to the gate at once.
  patienceMs: 150,
};
/** A batch is one round of each statement; larger ones only make its first send wait for its last. */
const BATCH = 48;
/** Of a group whose sends were slow to prepare: they end well within their claim. */
const MOST_OF_SLOW = 4;
/** Looks for due sends follow each other at this distance while batches are not full: what has gathered costs one round. */
const LINGER_MS = 100;
/** Batches before the gate at once: while one waits for the database another renders. */
const BATCHES = 4;
/** How long a stopping process waits for hand-offs that have begun. */
const STOP_MS = 4_000;
const PAUSE_AFTER_FAILURE_MS = 500;

/** What is taken of a group, and the transport that will carry it; undefined where there is none. */
interface Share extends GroupShare {
  readonly transport: string | undefined;
}

/** A group, and how what is of it leaves. */
type DueWithPlan = Awaited<ReturnType<Claims['dueGroups']>>[number];

/** What a group may be given. */
interface Offer extends Wanting {
  readonly group: DueGroup;
  readonly maxPerSecond: number | undefined;
}

/**
 * Takes up due sends, batch by batch, and no more than the transports can carry: a slow server or a large backlog takes
 * neither memory nor the turn of others.
 */
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown, BatchOwner {
  stopping = false;
  private readonly slots = new Slots();
  /** Transports of sends in hand, by {@link holdOf}. */
  private readonly transportOf = new Map<string, string>();
  private readonly batches = new Set<Promise<void>>();
  private readonly flights = new Set<Promise<void>>();
  private readonly lateSends = new LateSends();
  private readonly rest = new WakeableSleep();
  private readonly pace: Pace;
  private readonly loop: SteadyLoop;
  private readonly turns: TenantTurns;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: MessagingConfig,
    private readonly signal: DispatchSignal,
    private readonly claims: Claims,
    private readonly transports: Transports,
    private readonly work: DispatchBatch,
    tenants: Pick<Tenants, 'of'>,
    private readonly own: DispatcherLanes,
  ) {
    this.turns = new TenantTurns(tenants);
    this.pace = new Pace(own.pollMs, { everyMs: own.quietPollMs });
    this.loop = new SteadyLoop({ name: `dispatch-${own.signal}`, takes: 'rows of sends' });
  }

  get patienceMs(): number {
    return this.own.patienceMs;
  }

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.signal.listen(() => this.rest.wake(), this.own.signal);
    this.running = this.loop.run(
      () => this.stopping,
      () => this.look(),
    );
  }

  /** Begins nothing new and waits, not for ever, for what has begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.rest.wake();
    await waitAtMost(STOP_MS, this.drained());
  }

  inFlight(send: ClaimedSend, work: Promise<void>): void {
    const hold = holdOf(send);
    const late = this.lateSends.transportOf(send);
    if (late !== undefined) this.slots.take(late);
    const key = late ?? this.transportOf.get(hold);
    this.transportOf.delete(hold);
    const flight: Promise<void> = work
      .catch((error: unknown) => log.error({ err: error }, 'A hand-off ended in an error'))
      .finally(() => {
        this.flights.delete(flight);
        this.release(key);
      });
    this.flights.add(flight);
  }

  /** They give back their places until they are ready; while there are such of a group it is given no more. */
  late(sends: readonly ClaimedSend[], work: Promise<void>): void {
    const end = this.lateSends.add(sends, (send) => this.transportOf.get(holdOf(send)));
    this.letGo(sends);
    const following: Promise<void> = work
      .catch((error: unknown) =>
        log.error({ err: error }, 'Sends that were slow to prepare failed; others take them up'),
      )
      .finally(() => {
        this.flights.delete(following);
        end();
        this.rest.wake();
      });
    this.flights.add(following);
  }

  private async drained(): Promise<void> {
    await this.running;
    await Promise.all(this.batches);
    while (this.flights.size > 0) await Promise.all(this.flights);
  }

  private async look(): Promise<void> {
    try {
      this.rest.forgetWakes();
      const began = performance.now();
      const taken = await this.round();
      if (taken > 0) this.pace.busy();
      else await this.rest.sleep(this.pace.restMs);
      if (taken < BATCH) await this.linger(began);
    } catch (error) {
      log.error({ err: error }, 'The dispatcher could not look for due sends; trying again');
      await this.rest.sleep(PAUSE_AFTER_FAILURE_MS);
    }
  }

  /** One look at what is due. @returns how many sends it has taken up */
  private async round(): Promise<number> {
    if (this.batches.size >= BATCHES) await Promise.race(this.batches);
    if (this.stopping) return 0;
    const shares = await this.shares();
    const sends = shares.length === 0 ? [] : await this.claims.take(shares);
    if (sends.length > 0) this.begin(sends, shares);
    return sends.length;
  }

  /** The first send after a quiet time goes at once, a stream of them in batches. */
  private async linger(since: number): Promise<void> {
    const left = LINGER_MS - (performance.now() - since);
    if (left > 0 && !this.stopping) await pause(left);
  }

  /** What may be taken of each group: fair shares of a batch, within what its transport can carry. */
  private async shares(): Promise<Share[]> {
    const due = await this.claims.dueGroups(this.own.lanes);
    const wanting = this.inTurn(due).flatMap(({ of: { group, plan }, places }): Offer[] => {
      const most = this.lateSends.isSlow(group) ? Math.min(places, MOST_OF_SLOW) : places;
      if (!plan) return [{ group, most, maxPerSecond: undefined, transport: undefined }];
      const { transportKey: transport, maxPerSecond } = plan;
      this.slots.allow(transport, Math.ceil(this.transports.of(plan).capacity() * this.own.share));
      return this.slots.roomy(transport, BATCH / 4) ? [{ group, most, maxPerSecond, transport }] : [];
    });
    const taken = fairShares(wanting, (transport) => this.slots.free(transport));
    return wanting.flatMap(({ group, maxPerSecond, transport }, index): Share[] => {
      const take = taken[index] ?? 0;
      return take > 0 ? [{ ...group, take, maxPerSecond, transport }] : [];
    });
  }

  /** Tenants take turns, whatever lanes and channels theirs wait in; of what has its turn the first lane comes first. */
  private inTurn(due: readonly DueWithPlan[]): Turn<DueWithPlan>[] {
    const ready = due.filter(({ group }) => !this.lateSends.isWaitedFor(group));
    const waiting = ready.map((one) => ({ ...one, organizationId: one.group.organizationId }));
    return this.turns.give(waiting, BATCH).sort((one, other) => one.of.group.lane - other.of.group.lane);
  }

  private begin(sends: readonly ClaimedSend[], shares: readonly Share[]): void {
    for (const send of sends) {
      const share = shares.find(
        (one) => one.organizationId === send.organizationId && one.channel === send.channel,
      );
      if (share?.transport === undefined) continue;
      this.slots.take(share.transport);
      this.transportOf.set(holdOf(send), share.transport);
    }
    const batch: Promise<void> = this.work
      .process(sends, this)
      .catch((error: unknown) => log.error({ err: error }, 'A batch of sends failed; others take it up'))
      .finally(() => {
        this.batches.delete(batch);
        this.letGo(this.lateSends.judge(sends));
      });
    this.batches.add(batch);
  }

  /** What has not gone on to its transport needs no place there. */
  private letGo(sends: readonly ClaimedSend[]): void {
    for (const hold of sends.map(holdOf)) {
      this.release(this.transportOf.get(hold));
      this.transportOf.delete(hold);
    }
  }

  private release(transport: string | undefined): void {
    if (transport === undefined) return;
    this.slots.give(transport);
    if (this.slots.roomy(transport, BATCH / 4)) this.rest.wake();
  }
}
