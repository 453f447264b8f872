import type { Entry } from './entry.ts';

/** So many lines are kept at most, and as many wait while the list stands still. */
export const KEPT = 1_000;

/** How the events come. `polled`: asked for every two seconds, by a platform that has no stream yet. */
export type Connection = 'connecting' | 'streamed' | 'polled' | 'lost';

/** What the page shows. */
export interface LiveView {
  entries: readonly Entry[];
  /** Came while the list stood still. */
  waiting: number;
  /** Came, and are not in the list any more: they are among the earlier ones. */
  letGo: number;
  /** Were stored, and did not reach this page. */
  missed: boolean;
  connection: Connection;
  /** Ended for good, and why. */
  failure: unknown;
}

const NOTHING: LiveView = {
  entries: [],
  waiting: 0,
  letGo: 0,
  missed: false,
  connection: 'connecting',
  failure: undefined,
};

/**
 * The newest events, newest first, each once. It is told of every event at once and tells its readers at most once a
 * turn of `schedule`, so that however many come, a page draws them together.
 */
export class LiveBuffer {
  private view = NOTHING;
  private entries: readonly Entry[] = [];
  private incoming: Entry[] = [];
  private known = new Set<string>();
  private letGo = 0;
  private held = false;
  private scheduled = false;
  private readonly readers = new Set<() => void>();
  private readonly schedule: (run: () => void) => void;
  private readonly kept: number;

  constructor(schedule: (run: () => void) => void, kept = KEPT) {
    this.schedule = schedule;
    this.kept = kept;
  }

  readonly subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  };

  readonly current = (): LiveView => this.view;

  has(key: string): boolean {
    return this.known.has(key);
  }

  get isEmpty(): boolean {
    return this.known.size === 0;
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.known.has(entry.key)) continue;
      this.known.add(entry.key);
      this.incoming.push(entry);
    }
    // A page that is not looked at draws nothing, for hours perhaps: what waits has its bound here.
    if (this.incoming.length > 2 * this.kept) this.trimIncoming();
    this.soon();
  }

  /** Stands still, or goes on. */
  hold(held: boolean): void {
    this.held = held;
    this.soon();
  }

  become(change: Partial<Pick<LiveView, 'connection' | 'failure' | 'missed'>>): void {
    this.view = { ...this.view, ...change };
    this.soon();
  }

  private soon(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    if (this.incoming.length > this.kept) this.trimIncoming();
    // A list that stands still and is empty would show nothing of what is there.
    const moves = !this.held || this.entries.length === 0;
    if (moves && this.incoming.length > 0) {
      const all = [...this.incoming, ...this.entries].sort(newestFirst);
      this.incoming = [];
      this.forget(all.slice(this.kept));
      this.entries = all.slice(0, this.kept);
    }
    const { entries, letGo } = this;
    this.view = { ...this.view, entries, letGo, waiting: this.incoming.length };
    for (const reader of this.readers) reader();
  }

  private trimIncoming(): void {
    this.incoming.sort(newestFirst);
    this.forget(this.incoming.slice(this.kept));
    this.incoming.length = Math.min(this.incoming.length, this.kept);
  }

  private forget(entries: readonly Entry[]): void {
    for (const { key } of entries) this.known.delete(key);
    this.letGo += entries.length;
  }
}

function newestFirst(one: Entry, other: Entry): number {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1;
  return one.key < other.key ? 1 : -1;
}
