import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { PollingJob } from '@customer-platform/http';
import { beginningOf, comparePositions, type Position } from './live-position.js';
import { FIRST_SPAN_MS, horizon, readLive, type Horizon, type LiveItem, type Stretch } from './live-rows.js';
import type { LiveStream } from './live-stream.js';

const READ_EVERY_MS = 400;
/** Items of either kind in one statement. */
const PAGE = 100;
/** A reader who has not taken what it was given in so many steps is slow, and not waited for again until it has. */
const STEPS_FOR_ROOM = 10;
/** So many steps out of one read the others wait for all of them together. */
const MOST_STEPS = 50;
/** Somebody looks at what is to come: an outage is asked about again soon. */
const LONGEST_PAUSE_MS = 2_000;
/** Longer than any transaction of ours should last. */
const TRANSACTIONS_WAITED_FOR_MS = 30_000;
/** Nobody is waited for by a feed that is so far behind already: the readers of others would be it, too. */
const BEHIND_MS = 5_000;
/** A feed that is so far behind goes on with the present. */
const MOST_BEHIND_MS = 5 * 60_000;

/**
 * Reads what is stored, once for all streams of this instance, and only while there are any: two statements, whoever
 * listens and whatever comes.
 */
@Injectable()
export class LiveFeed {
  readonly streams = new Set<LiveStream>();
  /** For so long an open transaction keeps back what was stored after it began. */
  waitedForMs = TRANSACTIONS_WAITED_FOR_MS;
  private readonly job = new PollingJob({
    name: 'live-events',
    takes: null,
    everyMs: READ_EVERY_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    pass: () => this.pass(),
  });
  private started = false;
  /** All up to here has been given out; undefined while nobody listens. */
  private reached: Position | undefined;
  private spanMs = FIRST_SPAN_MS;
  private joining = Promise.withResolvers<void>();

  constructor(private readonly database: Database) {}

  add(live: LiveStream): void {
    this.streams.add(live);
    if (this.started) return;
    this.started = true;
    this.job.start();
  }

  remove(live: LiveStream): void {
    this.streams.delete(live);
    // What brought it up to here waits for nothing any more.
    this.endTurn();
  }

  /** Resolves when those who had caught up have been taken in, or it turned out that they had not. */
  async joined(): Promise<void> {
    if (this.job.stopping) return;
    const { promise } = this.joining;
    this.job.wake();
    await promise;
  }

  /** Reads no more; nobody waits to be taken in. */
  async stop(): Promise<void> {
    const stopped = this.job.stop();
    this.endTurn();
    await stopped;
  }

  private endTurn(): void {
    this.joining.resolve();
    this.joining = Promise.withResolvers<void>();
  }

  private async pass(): Promise<void> {
    for (let more = true; more && !this.job.stopping;) {
      if (this.streams.size === 0) {
        this.reached = undefined;
        this.endTurn();
        return;
      }
      if (this.reached) this.takeIn(this.reached);
      more = await this.readOn();
      this.job.progressed();
    }
  }

  /**
   * Whoever has read as far by itself as the feed gave out is given what comes now. Here alone, before a read begins: of
   * one that is under way it may not be known whom it was for.
   */
  private takeIn(reached: Position): void {
    for (const live of this.streams) {
      if (live.live || !live.caughtUp) continue;
      live.live = comparePositions(live.position, reached) >= 0;
      live.caughtUp = live.live;
    }
    this.endTurn();
  }

  /** To all who listen, each as fast as it reads; whoever is slower is waited for once, and a moment only. */
  private async giveOut(items: readonly LiveItem[], patience: number): Promise<void> {
    const listening = [...this.streams].filter(({ live }) => live);
    const listeners = Map.groupBy(listening, ({ organizationId }) => organizationId);
    let left = patience;
    hold(listening);
    try {
      for (const item of items) {
        const readers = listeners.get(item.organizationId) ?? [];
        if (readers.some(({ needsRoom }) => needsRoom)) {
          letGo(listening);
          left -= await this.makeRoom(readers, left);
          hold(listening);
        }
        for (const live of readers) live.offer(item);
      }
    } finally {
      letGo(listening);
    }
  }

  /** Waits for those who have not taken what they were given. @returns how many steps of the patience that took */
  private async makeRoom(readers: readonly LiveStream[], patience: number): Promise<number> {
    const crowded = readers.filter(({ needsRoom }) => needsRoom);
    if (crowded.length === 0 || patience <= 0) return 0;
    const steps = Math.min(patience, STEPS_FOR_ROOM);
    return Math.max(...(await Promise.all(crowded.map((live) => live.room(steps)))));
  }

  private async readOn(): Promise<boolean> {
    const organizations = [...new Set([...this.streams].map(({ organizationId }) => organizationId))];
    const { reached, spanMs } = this;
    const read = await this.database.acrossOrganizations(async (tx): Promise<Stretch & Horizon> => {
      const { before, late } = await horizon(tx, this.waitedForMs);
      if (!reached || reached.at < before - MOST_BEHIND_MS)
        return { items: [], until: beginningOf(before), more: false, spanMs: FIRST_SPAN_MS, before, late };
      return {
        ...(await readLive(tx, organizations, { after: reached, before, spanMs, most: PAGE })),
        before,
        late,
      };
    });
    this.spanMs = read.spanMs;
    for (const live of this.streams) live.sees(read.late);
    if (reached && comparePositions(read.until, reached) < 0) return false;
    if (reached && reached.at < read.before - MOST_BEHIND_MS)
      for (const live of this.streams) if (live.live) live.gap(read.until);
    await this.giveOut(read.items, reached && reached.at < read.before - BEHIND_MS ? 0 : MOST_STEPS);
    this.reached = read.until;
    // The first read only said where the feed begins: those who wait to be taken in wait no longer than that.
    return read.more || !reached;
  }
}

/** What they are told of one read goes out at once. */
function hold(streams: readonly LiveStream[]): void {
  for (const { stream } of streams) stream.hold();
}

function letGo(streams: readonly LiveStream[]): void {
  for (const { stream } of streams) stream.letGo();
}
