import type { Channel } from '../../addresses/channel.js';

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

/** What is handed over: everything is composed before the gate, nothing is decided after it. */
export interface OutgoingMessage {
  readonly organizationId: string;
  readonly sendId: string;
  readonly channel: Channel;
  /** The checked address: the only text that may name the recipient to the transport. */
  readonly to: string;
  /** Envelope sender of mail, sender id of other channels. */
  readonly from: string;
  /** The whole message as it leaves: MIME by SMTP, a form or JSON by HTTP. */
  readonly content: Buffer;
}

/**
 * How a hand-off ended.
 * - `sent`: the provider has taken the message.
 * - `deferred`: it has not, and may later (4xx, a connection that broke before the content).
 * - `bounced`: it refused it for good (5xx).
 * - `misconfigured`: it has not taken it because it refuses the account, or is not what the settings say: no fault of
 *   the message or its recipient, and the same for all until somebody mends it.
 * - `unknown`: the connection broke after the content began; nobody can tell. Never sent again.
 * - `released`: nothing was begun, the lease was over or the process is ending; costs no attempt.
 */
export interface HandOff {
  readonly outcome: 'sent' | 'deferred' | 'bounced' | 'misconfigured' | 'unknown' | 'released';
  /** The SMTP reply code, or the HTTP status of other providers. */
  readonly code?: number;
  /** RFC 3463 status of the reply: `5.1.1`. */
  readonly enhanced?: string;
  readonly providerMessageId?: string;
  /** A reply that blames this recipient's address for good: it is suppressed. */
  readonly recipientGone?: boolean;
  /** Of `misconfigured`: what was refused, such as `AUTH`, `TLS` or `request`. */
  readonly stage?: string;
  /** For so long the provider asked to be left alone. */
  readonly retryAfterMs?: number;
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
