/** The pause after the first failure of a partition, and how long its next try may take; each further one is twice as long. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;
/** Rows beyond it stay among those that are looked at in every round. */
const MOST_HELD = 20_000;

interface Ailing {
  readonly topic: string;
  readonly failures: number;
  readonly until: number;
}

/**
 * Partitions that could not be written, and the rows that wait for them, which the relay passes over. While a
 * partition is held nothing goes to it, so that its keys keep their order; all its rows are let go at once.
 */
export class HeldRows {
  private readonly ailing = new Map<string, Ailing>();
  private readonly held = new Set<string>();
  private readonly rows = new Map<string, ReadonlySet<string>>();

  /** The ids of the rows to pass over. */
  get ids(): string[] {
    return [...this.rows.keys()];
  }

  /** Whether nothing may go to some partition now. */
  get any(): boolean {
    return this.held.size > 0;
  }

  /** Whether some partition could not be written the last time. */
  get ails(): boolean {
    return this.ailing.size > 0;
  }

  /** Whether nothing may go to the partition now. */
  holds(place: string): boolean {
    return this.held.has(place);
  }

  /** The topics of partitions whose pause is over. */
  due(now: number): string[] {
    const due = [...this.ailing].filter(([place, { until }]) => this.held.has(place) && until <= now);
    return [...new Set(due.map(([, { topic }]) => topic))];
  }

  /** Lets partitions be tried again whose pause is over, with all rows that wait for them. */
  release(now: number): void {
    const free = new Set([...this.held].filter((place) => (this.ailing.get(place)?.until ?? 0) <= now));
    for (const place of free) this.held.delete(place);
    for (const [id, places] of this.rows)
      if ([...places].some((place) => free.has(place))) this.rows.delete(id);
  }

  /** Notes that a partition could not be written. Returns how often in a row. */
  failed(place: string, topic: string, now: number): number {
    const failures = (this.ailing.get(place)?.failures ?? 0) + 1;
    this.ailing.set(place, { topic, failures, until: now + waitAfter(failures) });
    this.held.add(place);
    return failures;
  }

  /** Notes that a partition was written; returns whether it could not be before. */
  written(place: string): boolean {
    return this.ailing.delete(place);
  }

  /** Passes a row over until one of these partitions is tried again; returns whether there was room to note it. */
  hold(id: string, places: ReadonlySet<string>): boolean {
    if (this.rows.size >= MOST_HELD) return false;
    this.rows.set(id, places);
    return true;
  }

  /** How long a request to these partitions may take; `usual` where none has failed. */
  patience(places: Iterable<string>, usual: number): number {
    const waits = [...places].flatMap((place) => {
      const failures = this.ailing.get(place)?.failures;
      return failures === undefined ? [] : [waitAfter(failures)];
    });
    return Math.min(usual, ...waits);
  }
}

function waitAfter(failures: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
}
