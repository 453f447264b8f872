/** Tells a person on a terminal what happens, step by step, each with its time. */
export class Progress {
  private readonly begun = performance.now();
  private readonly out: (line: string) => void;
  private readonly patience: number;
  private stopped = false;

  constructor(
    out: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
    patience = 5_000,
  ) {
    this.out = out;
    this.patience = patience;
  }

  say(line = ''): void {
    this.out(line);
  }

  /** Something that happened by itself and needs attention, with the time of day. */
  note(line: string): void {
    this.out(`${new Date().toISOString().slice(11, 19)}  ${line}`);
  }

  /** Steps that are ended on purpose have not failed: from now on they say nothing. */
  stop(): void {
    this.stopped = true;
  }

  /** Runs a step and prints its time when it is over; what it returns in `detail` is shown beside. */
  async step<T>(name: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T> {
    const begun = performance.now();
    let detail = '';
    const show = (mark: string, more = ''): void =>
      this.sayOfStep(`  ${mark} ${name.padEnd(24)}${seconds(performance.now() - begun)}  ${more}`.trimEnd());
    // A cold start has steps of a minute: a person must see that it is alive.
    const alive = setInterval(() => show('…'), this.patience);
    try {
      const result = await work((text) => (detail = text));
      show('✓', detail);
      return result;
    } catch (error) {
      show('✗');
      throw error;
    } finally {
      clearInterval(alive);
    }
  }

  private sayOfStep(line: string): void {
    if (!this.stopped) this.out(line);
  }

  /** Time since the beginning. */
  elapsed(): string {
    return seconds(performance.now() - this.begun).trim();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8);
