import { bytesOf, isEvent, type QueuedEvent } from './event.js';

/**
 * Where an event is once a call has returned: `stored` outlives the page or the process, `memory` does not, `dropped` is
 * nowhere and was told to `onDrop`.
 */
export type Kept = 'stored' | 'memory' | 'dropped';

/** A queue: who adds, and who sends and removes, need not know of each other. */
export interface Store {
  /** Events in it, as far as this sender knows. */
  readonly count: number;
  /** Their bytes. */
  readonly bytes: number;
  add(event: QueuedEvent): Kept | Promise<Kept>;
  /** All events, oldest first. */
  list(): QueuedEvent[];
  /** Takes events out; those that are not there are no error. */
  remove(ids: readonly string[]): void;
}

/** A queue that ends with the page or the process. */
export class MemoryStore implements Store {
  bytes = 0;
  private readonly events = new Map<string, QueuedEvent>();

  get count(): number {
    return this.events.size;
  }

  add(event: QueuedEvent): Kept {
    this.events.set(event.id, event);
    this.bytes += bytesOf(event.text);
    return 'memory';
  }

  list(): QueuedEvent[] {
    return [...this.events.values()];
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      const event = this.events.get(id);
      if (event !== undefined) this.bytes -= bytesOf(event.text);
      this.events.delete(id);
    }
  }
}

/** What is used of `localStorage`. */
export interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

/**
 * A queue in `localStorage`, shared by all pages of the site. Each event is an item of its own: pages that add and remove
 * at once never write the same item, so none undoes what another did, with or without a lock. What does not fit any more,
 * or is refused as in private windows, is kept in memory.
 */
export class LocalStore implements Store {
  count = 0;
  bytes = 0;
  private readonly overflow = new MemoryStore();
  /** Removed, though the browser would not. */
  private readonly removed = new Set<string>();

  constructor(
    private readonly storage: TextStorage,
    private readonly prefix: string,
  ) {
    this.list();
  }

  add(event: QueuedEvent): Kept {
    this.count += 1;
    this.bytes += bytesOf(event.text);
    try {
      this.storage.setItem(this.prefix + event.id, event.text);
      return 'stored';
    } catch {
      return this.overflow.add(event);
    }
  }

  list(): QueuedEvent[] {
    const events = [...this.stored(), ...this.overflow.list()];
    this.count = events.length;
    this.bytes = events.reduce((sum, { text }) => sum + bytesOf(text), 0);
    return events.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  remove(ids: readonly string[]): void {
    this.overflow.remove(ids);
    for (const id of ids) {
      try {
        this.storage.removeItem(this.prefix + id);
      } catch {
        this.removed.add(id);
      }
    }
  }

  /** Every script of the site can write here. What no tracker has written is removed, since it would spoil its batch. */
  private stored(): QueuedEvent[] {
    try {
      const events: QueuedEvent[] = [];
      for (const name of Object.keys(this.storage)) {
        if (!name.startsWith(this.prefix)) continue;
        const event = { id: name.slice(this.prefix.length), text: this.storage.getItem(name) ?? '' };
        if (!isEvent(event.text)) this.remove([event.id]);
        else if (!this.removed.has(event.id)) events.push(event);
      }
      return events;
    } catch {
      return [];
    }
  }
}
