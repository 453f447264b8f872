import {
  bytesOf,
  EventClock,
  type EventOptions,
  type IdentifyOptions,
  type Properties,
  type QueuedEvent,
  type SentEvent,
  toText,
  type Unfit,
  uuidV7,
} from './event.js';
import type { Environment } from './environment.js';
import { type Failure, Sender, type SendingOptions } from './sender.js';
import { type Kept, MemoryStore, type Store } from './store.js';

/** Whether events may be kept and sent: nothing known yet, yes, no. */
export type Consent = 'pending' | 'granted' | 'denied';

/** Why an event will never arrive. */
export type DropReason = 'consent_denied' | 'queue_full' | 'invalid' | Unfit | 'refused' | 'closed';

/** An event that will never arrive. */
export interface Drop {
  readonly event: SentEvent;
  readonly reason: DropReason;
  /** The platform's code of a refused event, else the reason again. */
  readonly code: string;
}

/** What has become of the calls so far. */
export interface Counts {
  /** Not answered yet; those of earlier pages and runs, and of other pages of the site, are among them. */
  readonly queued: number;
  readonly delivered: number;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
}

/** How a tracker is made; all but `url` and `key` has a default. */
export interface TrackerOptions extends SendingOptions {
  /** Whose events those are that say nothing else. */
  externalId?: string;
  /** Default `granted`. */
  consent?: Consent;
  /** The queue's bounds; what comes when it is full is dropped. Defaults 1,000 and 1 MiB, with a file 100,000 and 64 MiB. */
  maxEvents?: number;
  maxBytes?: number;
  onDrop?: (drop: Drop) => void;
  onFailure?: (failure: Failure) => void;
}

/** Takes events at any time and sends them when it can. No call throws, and no promise of a call rejects. */
export class Tracker {
  private consent: Consent;
  private externalId: string | undefined;
  private readonly store: Store;
  /** What came before anything was known of the consent; nowhere else until then. */
  private readonly undecided = new MemoryStore();
  private readonly clock: EventClock;
  private readonly sender: Sender;
  private delivered = 0;
  private readonly dropped: Partial<Record<DropReason, number>> = {};
  private closed = false;

  constructor(
    private readonly options: TrackerOptions,
    private readonly environment: Environment,
  ) {
    this.store = environment.store;
    this.consent = options.consent ?? 'granted';
    this.externalId = options.externalId;
    this.clock = new EventClock(() => environment.now());
    this.sender = new Sender(options, environment, {
      delivered: (events) => (this.delivered += events),
      refused: ({ text }, code) => void this.drop(parsed(text), 'refused', code),
      failed: (failure) => tell(() => options.onFailure?.(failure)),
    });
    this.setConsent(this.consent);
  }

  /** Something happened. Resolves once the event is where the answer says; the platform has it later. */
  track(event: string, properties: Properties = {}, options: EventOptions = {}): Promise<Kept> {
    return this.guarded('track', () => {
      const externalId = options.externalId ?? this.externalId;
      return this.keep({ type: 'track', event, external_id: externalId }, { properties }, options);
    });
  }

  /** Says who the person is; later events of this tracker are theirs. */
  identify(externalId: string, traits: Properties = {}, options: IdentifyOptions = {}): Promise<Kept> {
    return this.guarded('identify', () => {
      if (isName(externalId)) this.externalId = externalId;
      const { identities } = options;
      return this.keep({ type: 'identify', external_id: externalId }, { traits, identities }, options);
    });
  }

  /** `granted` sends what waited for it; `denied` drops that and what had not been sent yet. */
  setConsent(consent: Consent): void {
    this.consent = consent;
    if (consent !== 'granted') this.sender.pause();
    if (consent === 'pending') return;
    const waiting = this.undecided.list();
    this.undecided.remove(waiting.map(({ id }) => id));
    if (consent === 'granted') {
      for (const event of waiting) void this.enqueue(event);
      this.sender.start();
      return;
    }
    for (const { text } of waiting) void this.drop(parsed(text), 'consent_denied');
    this.forget();
    // What was on its way may come back unanswered.
    void this.sender.settled().then(() => this.consent === 'denied' && this.forget());
  }

  /**
   * Sends what is queued now, without waiting for a pause of its own; one that the platform asked for is kept. Tries again
   * after a refused key. Resolves when all has been answered, or an attempt has failed.
   */
  async flush(): Promise<Counts> {
    await this.sender.flush();
    return this.counts;
  }

  /** Sends what is queued, once, and ends: later calls drop. What was not delivered stays where it was stored. */
  async close(): Promise<Counts> {
    if (this.closed) return this.counts;
    this.closed = true;
    await this.sender.flush();
    this.sender.pause();
    await this.environment.close?.();
    return this.counts;
  }

  /** What has become of the calls so far. */
  get counts(): Counts {
    const queued = this.store.count + this.undecided.count;
    return { queued, delivered: this.delivered, dropped: { ...this.dropped } };
  }

  /** The page may be ending. */
  leave(): void {
    this.sender.leave();
  }

  /** The page, or the network, is back. */
  resume(): void {
    this.sender.resume();
  }

  /** Options are read here, and whoever has no types passes anything. */
  private guarded(type: SentEvent['type'], call: () => Promise<Kept>): Promise<Kept> {
    try {
      return call();
    } catch {
      return this.drop({ type }, 'invalid');
    }
  }

  /** Synchronous as far as the store is: a page can end with the very call. */
  private keep(head: SentEvent, content: object, options: Omit<EventOptions, 'externalId'>): Promise<Kept> {
    const at = this.clock.next();
    const id = uuidV7(at);
    const refusal = this.refusalOf(head);
    if (refusal !== undefined) return this.drop(head, refusal);
    const { idempotencyKey = id, occurredAt = new Date(at) } = options;
    const read = toText({ ...head, idempotency_key: idempotencyKey, occurred_at: occurredAt, ...content });
    if ('unfit' in read) return this.drop(head, read.unfit);
    const event = { id, text: read.text };
    if (this.consent === 'granted') return this.enqueue(event);
    if (this.isFull(this.undecided, event)) return this.drop(parsed(event.text), 'queue_full');
    return Promise.resolve(this.undecided.add(event));
  }

  private refusalOf({ type, event, external_id: externalId }: SentEvent): DropReason | undefined {
    if (this.closed) return 'closed';
    if (this.consent === 'denied') return 'consent_denied';
    return isName(externalId) && (type === 'identify' || isName(event)) ? undefined : 'invalid';
  }

  private isFull(store: Store, { text }: QueuedEvent): boolean {
    const { maxEvents = 1_000, maxBytes = 2 ** 20 } = this.options;
    return store.count >= maxEvents || store.bytes + bytesOf(text) > maxBytes;
  }

  private enqueue(event: QueuedEvent): Promise<Kept> {
    if (this.isFull(this.store, event)) return this.drop(parsed(event.text), 'queue_full');
    const kept = this.store.add(event);
    this.sender.added(event.id);
    return Promise.resolve(kept);
  }

  private drop(event: SentEvent, reason: DropReason, code: string = reason): Promise<Kept> {
    this.dropped[reason] = (this.dropped[reason] ?? 0) + 1;
    tell(() => this.options.onDrop?.({ event, reason, code }));
    return Promise.resolve('dropped');
  }

  /** Takes out of the store what has not been sent. */
  private forget(): void {
    const events = this.sender.waiting();
    this.store.remove(events.map(({ id }) => id));
    for (const { text } of events) void this.drop(parsed(text), 'consent_denied');
  }
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** The text of an event, read again; one of a store that someone else wrote into may be none. */
function parsed(text: string): SentEvent {
  try {
    return JSON.parse(text) as SentEvent;
  } catch {
    return { type: 'track' };
  }
}

/** Calls back to the page. What that throws is the page's, and reported as what its listeners throw. */
function tell(callBack: () => void): void {
  try {
    callBack();
  } catch (error) {
    (globalThis as { reportError?: (error: unknown) => void }).reportError?.(error);
  }
}
