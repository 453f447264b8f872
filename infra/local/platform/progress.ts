/** Tells a person on a terminal what happens, step by step, each with its time. */
export class Progress {
  private readonly begun = performance.now();
  private readonly out: (line: string) => void;
  private readonly patience: number;

  constructor(
    out: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
    patience = 8_000,
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

  /** Runs a step and prints its time when it is over; what it returns in `detail` is shown beside. */
  async step<T>(name: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T> {
    const begun = performance.now();
    let detail = '';
    // A cold start has steps of a minute: a person must see that it is alive.
    const alive = setInterval(() => this.out(`  … ${name}`), this.patience);
    try {
      const result = await work((text) => (detail = text));
      this.out(`  ✓ ${name.padEnd(24)}${seconds(performance.now() - begun)}  ${detail}`.trimEnd());
      return result;
    } catch (error) {
      this.out(`  ✗ ${name.padEnd(24)}${seconds(performance.now() - begun)}`);
      throw error;
    } finally {
      clearInterval(alive);
    }
  }

  /** Time since the beginning. */
  elapsed(): string {
    return seconds(performance.now() - this.begun).trim();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8);
