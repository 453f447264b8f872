/** So long a message may wait for a connection, beyond the least that is taken ahead. */
const WAIT_MS = 250;
const FEWEST = 3;
const MOST = 64;
/** Until a provider has shown otherwise it is taken for this slow. */
const SLOW_MS = 100;
/** Of what was known, what the latest message adds. */
const WEIGHT = 0.05;

/**
 * How many messages a transport has in hand for each of its connections. Between a claim and a hand-off lie several
 * round trips to the database: a fast provider stands idle meanwhile unless much is on the way, and before a slow one
 * much would wait in flight, where a suppression waits for it.
 */
export class Prefetch {
  private mean = SLOW_MS;

  /** Notes how long a message occupied a connection. */
  took(milliseconds: number): void {
    this.mean += (milliseconds - this.mean) * WEIGHT;
  }

  get perConnection(): number {
    return Math.min(MOST, Math.max(FEWEST, Math.round(WAIT_MS / Math.max(1, this.mean))));
  }
}
