import { identifierForms, type EventStream, type RequestContext } from '@customer-platform/http';
import { comparePositions, positionText, type Position } from './live-position.js';
import { FIRST_SPAN_MS, type LiveItem } from './live-rows.js';

/** A reader that has so much waiting is given nothing more until most of it was taken. */
const MOST_WAITING = 256 * 1024;
const FEW_WAITING = 32 * 1024;
/** By turns of the event loop rather than the clock: while the loop stands still no reader could take anything. */
const STEP_MS = 20;

/** Which of an organization's events somebody wants to see. */
export interface LiveFilter {
  readonly event?: string;
  readonly externalId?: string;
  /** The contact as it was asked for. */
  readonly contactId?: string;
}

/** What a stream is opened with. */
interface LiveStreamOptions {
  readonly id: string;
  readonly context: RequestContext;
  readonly stream: EventStream;
  readonly filter: LiveFilter;
  readonly position: Position;
  /** When it ends, in milliseconds since the epoch: its reader comes back. */
  readonly endsAt: number;
}

/** One reader of an organization's events. */
export class LiveStream {
  readonly id: string;
  readonly organizationId: string;
  readonly stream: EventStream;
  readonly filter: LiveFilter;
  readonly endsAt: number;
  /** The writings in which the external id that is asked for may stand. */
  private readonly externalIds: ReadonlySet<string> | undefined;
  /** All up to here was told, passed over by the filter, or counted as dropped. */
  position: Position;
  /** Whether it is given what the feed reads; until then it reads by itself what was before. */
  live = false;
  /** How long a time it reads at once. */
  spanMs = FIRST_SPAN_MS;
  /** Whether it has read all there was. */
  caughtUp = false;
  /** The ids under which the events of the contact that is asked for may stand. */
  contactIds: ReadonlySet<string> | undefined;
  /** Whether dead letters are shown whole. */
  seesLetters: boolean;
  /** The transactions that are not waited for, as it saw them last. */
  private late: ReadonlySet<string> = new Set();
  private dropped = 0;
  /** It was waited for in vain, and has not taken what waits since. */
  private slow = false;

  constructor({ id, context, stream, filter, position, endsAt }: LiveStreamOptions) {
    this.id = id;
    this.organizationId = context.organizationId;
    this.stream = stream;
    this.filter = filter;
    if (filter.externalId !== undefined) this.externalIds = new Set(identifierForms(filter.externalId));
    this.position = position;
    this.endsAt = endsAt;
    this.seesLetters = context.can('core.jobs.read');
  }

  /** Told of the transactions that are not waited for: what one that has ended stored comes too late to be told. */
  sees(late: readonly string[]): void {
    const now = new Set(late);
    const ended = [...this.late].some((each) => !now.has(each));
    this.late = now;
    if (ended) this.gap(this.position);
  }

  /** Tells an item that it has not seen, as far as the reader takes any; what it does not take is counted. */
  offer(item: LiveItem): void {
    if (comparePositions(item.position, this.position) <= 0) return;
    this.position = item.position;
    if (!this.wants(item)) return;
    if (this.dropped > 0 ? this.stream.waiting > FEW_WAITING : this.stream.waiting > MOST_WAITING) {
      this.dropped += 1;
      return;
    }
    this.tellDropped();
    this.tell(item);
  }

  /** Whether a moment may be what it needs: one that let it pass is not waited for again until it has taken something. */
  get needsRoom(): boolean {
    if (this.stream.waiting <= FEW_WAITING) this.slow = false;
    return !this.slow && this.stream.waiting > MOST_WAITING;
  }

  /** Waits for the reader, so many steps at most. @returns how many it took */
  async room(steps: number): Promise<number> {
    let taken = 0;
    for (; taken < steps && !this.stream.ended && this.stream.waiting > FEW_WAITING; taken += 1) {
      await this.stream.drained(STEP_MS);
    }
    this.slow = this.stream.waiting > MOST_WAITING;
    return taken;
  }

  /** As {@link offer}, of many, to a reader that is waited for: as many as it has room for. @returns whether all */
  give(items: readonly LiveItem[]): boolean {
    for (const item of items) {
      if (comparePositions(item.position, this.position) <= 0) continue;
      if (this.stream.waiting > MOST_WAITING) return false;
      this.position = item.position;
      if (this.wants(item)) this.tell(item);
    }
    return true;
  }

  /** Where it begins, so that a reader who hears nothing yet has something to come back with. */
  begin(): void {
    this.stream.comment();
    this.stream.send({ id: this.place() });
  }

  /** Something before is not told, and what is told goes on from here. */
  gap(from: Position): void {
    this.position = from;
    this.stream.send({ id: this.place(), event: 'gap', data: '{}' });
  }

  /** Says how much was dropped as soon as the reader takes anything again. */
  catchBreath(): void {
    if (this.dropped > 0 && this.stream.waiting <= FEW_WAITING) this.tellDropped();
  }

  /** A sign of life, and to where all is told: who comes back after a quiet hour has missed nothing. */
  beat(): void {
    if (this.stream.waiting > MOST_WAITING) return;
    this.stream.comment();
    if (this.live && this.dropped === 0) this.stream.send({ id: this.place() });
  }

  private wants({ event, externalId, contactId }: LiveItem): boolean {
    const { filter, contactIds } = this;
    if (filter.event !== undefined && filter.event !== event) return false;
    if (this.externalIds && (externalId === null || !this.externalIds.has(externalId))) return false;
    return contactIds === undefined || (contactId !== null && contactIds.has(contactId));
  }

  private tell({ text }: LiveItem): void {
    this.stream.send(text(this.seesLetters, this.late.size > 0));
  }

  /** What the reader comes back with. */
  private place(): string {
    const { at, id } = this.position;
    return positionText({ at, id, late: this.late.size > 0 });
  }

  private tellDropped(): void {
    if (this.dropped === 0) return;
    this.stream.send({ event: 'dropped', data: JSON.stringify({ count: this.dropped }) });
    this.dropped = 0;
  }
}
