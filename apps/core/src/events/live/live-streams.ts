import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ApiCredentialStrategy } from '@customer-platform/authorization';
import { Clock, Database, type Transaction } from '@customer-platform/database';
import { EventStream, log, metrics, Places, PollingJob, type RequestContext } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import { ContactLookup } from '../../people/contacts/contact-lookup.js';
import { LiveFeed } from './live-feed.js';
import { beginningOf, comparePositions, readPosition, type Position } from './live-position.js';
import { horizon, readLive, type Stretch } from './live-rows.js';
import { LiveStream, type LiveFilter } from './live-stream.js';
import { MOST_STREAMS, releaseSlots, renewSlots, takeSlot, tooMany } from './stream-slots.js';

/** So far back a reader can go on from. */
const RESUMED_WITHIN_MS = 5 * 60_000;
/** A position of a time to come is none that was given. */
const CLOCK_MAY_GO_BACK_MS = 1_000;
/** Of what was before, in one statement. */
const PAGE = 100;
/** Streams at once on this instance: each holds a socket and what its reader has not taken. An organization has fewer over all. */
export const STREAMS_AT_ONCE = { inAll: 500, ofTenant: 100, ofOrganization: MOST_STREAMS };

/**
 * A stream ends by itself after so long and up to so much more: of a reader that vanished without a word nothing is heard
 * for a quarter of an hour, and those who came together do not come back together.
 */
const LASTS_MS = 90_000;
const LASTS_LONGER_MS = 60_000;

const CHECK_EVERY_MS = 300;
const BEAT_EVERY_MS = 15_000;
const RENEW_EVERY_MS = 3_000;

const open = new Gauge({
  name: 'event_streams_open',
  help: 'Streams of events that are read on this instance',
  registers: [metrics],
});

/** Where a stream begins. */
interface Beginning {
  readonly slot: string;
  readonly position: Position;
  /** Whether what the reader saw last lies too far back, is nothing that was given, or something from before came since. */
  readonly gap: boolean;
  readonly late: readonly string[];
  readonly contactIds: ReadonlySet<string> | undefined;
}

/** The readers of this instance: who may listen, from where, and for how long (core.md §12a). */
@Injectable()
export class LiveStreams implements OnModuleDestroy {
  private readonly renewal = new PollingJob({
    name: 'event-streams',
    takes: null,
    everyMs: RENEW_EVERY_MS,
    pass: () => this.renew(),
  });
  private readonly places = new Places(STREAMS_AT_ONCE, tooMany);
  private readonly requests = new Map<LiveStream, IncomingMessage>();
  /** Functions that give a stream's place on this instance back. */
  private readonly holding = new Map<LiveStream, () => void>();
  private readonly beingChecked = new Set<LiveStream>();
  /** What is waited for at the end. */
  private readonly running = new Set<Promise<void>>();
  private timers: NodeJS.Timeout[] = [];
  /** Those who read what was before do so one page after another, so that they take one connection of the pool. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
    private readonly feed: LiveFeed,
    private readonly clock: Clock,
    private readonly credentials: ApiCredentialStrategy,
  ) {}

  /**
   * Answers with the organization's events from now on, or from where the reader was, until the credential or the right
   * to read them ends, the reader goes, its time is over or the app is to end.
   * @throws Problem `rate_limited`, `shutting_down`
   */
  async open(
    context: RequestContext,
    filter: LiveFilter,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    // Of an answer without a body there is nothing to follow.
    if (request.method === 'HEAD') return EventStream.open(request, response).end();
    const leave = this.places.take(context);
    let stream: EventStream;
    let beginning: Beginning;
    try {
      beginning = await this.begin(context, filter, request);
      stream = await this.answer(context, beginning, request, response);
    } catch (error) {
      leave();
      throw error;
    }
    const { slot, position, gap, late, contactIds } = beginning;
    const endsAt = this.clock.now().getTime() + LASTS_MS + Math.random() * LASTS_LONGER_MS;
    const live = new LiveStream({ id: slot, context, stream, filter, position, endsAt });
    live.contactIds = contactIds;
    live.sees(late);
    this.join(live, request);
    this.holding.set(live, leave);
    stream.onEnd(() => this.leave(live));
    live.begin();
    if (gap) live.gap(position);
    this.keep(this.catchUp(live));
  }

  /** Ends all streams and gives their places back. */
  async onModuleDestroy(): Promise<void> {
    this.timers.forEach(clearInterval);
    for (const live of this.feed.streams) live.stream.end();
    await Promise.all([this.feed.stop(), this.renewal.stop()]);
    await Promise.all(this.running);
  }

  private async answer(
    { organizationId }: RequestContext,
    { slot: id }: Beginning,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<EventStream> {
    try {
      return EventStream.open(request, response);
    } catch (error) {
      await this.release({ organizationId, id });
      throw error;
    }
  }

  private begin(context: RequestContext, filter: LiveFilter, request: IncomingMessage): Promise<Beginning> {
    const header = request.headers['last-event-id'];
    const last = typeof header === 'string' && header !== '' ? header : undefined;
    return this.database.inOrganization(context, async (tx) => {
      const slot = await takeSlot(tx);
      const { before: now, late } = await horizon(tx, this.feed.waitedForMs);
      const given = last === undefined ? undefined : readPosition(last);
      const known = given && given.at >= now - RESUMED_WITHIN_MS && given.at <= now + CLOCK_MAY_GO_BACK_MS;
      const position = known ? given : beginningOf(now);
      const contactIds = await this.contactIdsOf(tx, filter);
      const gap = last !== undefined && (!known || given.late === true);
      return { slot, position, gap, late, contactIds };
    });
  }

  /** A merge gives a contact's events to its survivor. */
  private async contactIdsOf(tx: Transaction, { contactId }: LiveFilter): Promise<Set<string> | undefined> {
    if (contactId === undefined) return undefined;
    return new Set([contactId, ...(await this.lookup.survivorsOf(tx, [contactId])).values()]);
  }

  private join(live: LiveStream, request: IncomingMessage): void {
    this.requests.set(live, request);
    open.inc();
    this.feed.add(live);
    if (this.timers.length > 0) return;
    this.renewal.start(RENEW_EVERY_MS);
    this.timers = [
      // eslint-disable-next-line house/registered-work -- asks only whether readers may still listen
      setInterval(() => this.check(), CHECK_EVERY_MS).unref(),
      // eslint-disable-next-line house/registered-work -- a sign of life to each reader, which fails none
      setInterval(() => this.feed.streams.forEach((each) => each.beat()), BEAT_EVERY_MS).unref(),
    ];
  }

  private leave(live: LiveStream): void {
    this.requests.delete(live);
    this.holding.get(live)?.();
    this.holding.delete(live);
    open.dec();
    this.feed.remove(live);
    this.keep(this.release(live));
  }

  /** Work that goes on by itself, and fails nobody. */
  private keep(work: Promise<void>): void {
    const done = work.finally(() => this.running.delete(done));
    this.running.add(done);
  }

  private async release(slot: { organizationId: string; id: string }): Promise<void> {
    try {
      await this.database.acrossOrganizations((tx) => releaseSlots(tx, [slot]));
    } catch (error) {
      log.info({ err: error }, 'The place of a stream could not be given back; it comes free in ten seconds');
    }
  }

  /** Tells what was stored since the reader was here last; then the feed takes over. */
  private async catchUp(live: LiveStream): Promise<void> {
    const { stream } = live;
    try {
      // eslint-disable-next-line house/no-endless-turns -- its reader sets the pace, and ends it by leaving
      while (!live.live && !stream.ended) {
        if (!(await this.givePage(live))) await stream.drained();
        else if (live.caughtUp) await this.feed.joined();
      }
    } catch (error) {
      log.warn({ err: error }, 'A stream of events could not go on; its reader will come back');
      stream.end();
    }
  }

  /**
   * Tells of the next page what the reader has room for: the rest is read again when it has, for it may be long.
   * @returns whether it took all
   */
  private async givePage(live: LiveStream): Promise<boolean> {
    const { items, until, more, spanMs } = await this.nextPage(live);
    live.spanMs = spanMs;
    if (!live.give(items)) return false;
    // Where another instance has told more already, it is further than what can be seen here.
    if (comparePositions(until, live.position) > 0) live.position = until;
    live.caughtUp = !more;
    return true;
  }

  private nextPage(live: LiveStream): Promise<Stretch> {
    const { organizationId } = live;
    const read = (): Promise<Stretch> =>
      this.database.inOrganization({ organizationId }, async (tx) => {
        const { before, late } = await horizon(tx, this.feed.waitedForMs);
        live.sees(late);
        if (live.position.at < before - RESUMED_WITHIN_MS) live.gap(beginningOf(before));
        return readLive(tx, [organizationId], {
          after: live.position,
          before,
          spanMs: live.spanMs,
          most: PAGE,
        });
      });
    // Whatever came of the one before: whoever asked for it was told.
    const page = this.turn.then(read, read);
    this.turn = page;
    return page;
  }

  /** Who may not listen any more hears nothing more; silence of the registry permits nothing. */
  private check(): void {
    for (const [live, request] of this.requests) void this.checkOne(live, request);
  }

  private async checkOne(live: LiveStream, request: IncomingMessage): Promise<void> {
    // The registry may take longer to answer than it is to the next check.
    if (this.beingChecked.has(live)) return;
    this.beingChecked.add(live);
    try {
      if (live.endsAt <= this.clock.now().getTime()) return await this.conclude(live);
      const caller = await this.credentials.validate(request, { accepts: 'api_key|user' });
      const may = !caller.restriction && caller.permissions.has('core.events.read');
      live.seesLetters = caller.permissions.has('core.jobs.read');
      if (may && caller.organizationId === live.organizationId) live.catchBreath();
      else live.stream.end();
    } catch (error) {
      log.debug({ err: error }, 'A stream of events ends with its credential');
      live.stream.end();
    } finally {
      this.beingChecked.delete(live);
    }
  }

  /** Its time is over. The place comes free first: a reader that comes back at once finds it. */
  private async conclude(live: LiveStream): Promise<void> {
    await this.release(live);
    this.holding.get(live)?.();
    live.stream.end();
  }

  /** A place that another took, while this instance could not say that it holds it, is lost. */
  private async renew(): Promise<void> {
    const streams = [...this.feed.streams];
    if (streams.length === 0) return;
    const kept = await this.database.acrossOrganizations((tx) => renewSlots(tx, streams));
    for (const live of streams) if (!kept.has(live.id)) live.stream.end();
    for (const live of streams) {
      if (live.filter.contactId === undefined || live.stream.ended) continue;
      live.contactIds = await this.database.inOrganization(live, (tx) => this.contactIdsOf(tx, live.filter));
    }
  }
}
