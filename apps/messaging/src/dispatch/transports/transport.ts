import type { HandOff, OutgoingMessage } from '../../providers/transport-config.js';

/**
 * The time within which a hand-off must be over, on this process's monotonic clock (milliseconds of
 * `performance.now()`). A transport asks it before every write: a process that was paused beyond the end must not
 * write another byte, for the writer of a suppression no longer waits for it.
 */
export class Lease {
  constructor(private readonly endsAt: number) {}

  /** A lease that began at `startedAt` and lasts `milliseconds`. */
  static from(startedAt: number, milliseconds: number): Lease {
    return new Lease(startedAt + milliseconds);
  }

  remaining(): number {
    return this.endsAt - performance.now();
  }

  get over(): boolean {
    return this.remaining() <= 0;
  }
}

/** One way out of the platform. Held by the gate and by nothing else. */
export interface Transport {
  readonly provider: string;
  /** How many messages it takes in hand at once; 0, or 1 to try, while what it leads to does not answer. */
  capacity(): number;
  /** Hands one message over within the lease. Never throws. */
  handOff(message: OutgoingMessage, lease: Lease): Promise<HandOff>;
  close(): Promise<void>;
}
