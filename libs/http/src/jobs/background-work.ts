/** Work that goes on by itself, beside requests: a job that looks again and again, a loop, or a consumer. */
export interface BackgroundWork {
  /** Its name in metrics and log lines. */
  readonly name: string;
  /**
   * What it takes, in the words `rows of <table>` or `records of <topic>`; null where nothing of a tenant is taken, but only
   * looked at. Whatever takes something has a scenario in the `background-work.spec` of each module that runs it: one row that
   * fails for ever holds up no other tenant.
   */
  readonly takes: string | null;
  /** Has it look now, as its own timer would; absent where it hears of what comes. */
  readonly wake?: () => void;
}

/**
 * The background work of this process, by name. Whatever begins some notes it: `PollingJob`, `SteadyLoop` and the consumers of
 * the event bus. Lint refuses other ways to begin any (`house/registered-work`).
 */
class WorkRegistry {
  private readonly works = new Map<string, BackgroundWork>();

  /** Notes work, in place of another of its name: of an app that has ended. */
  note(work: BackgroundWork): void {
    this.works.set(work.name, work);
  }

  /** All that was noted since the last `clear`. */
  all(): BackgroundWork[] {
    return [...this.works.values()];
  }

  /** Forgets all: of apps that ended before another begins in the same process. */
  clear(): void {
    this.works.clear();
  }
}

/** What goes on in this process beside requests. */
export const backgroundWork = new WorkRegistry();
