import type { Channel } from '../vocabulary/addresses/channel.js';
import type { Sender } from '../vocabulary/senders/sender.js';

/** What a message of any channel is made of, for its provider to write down. All text is final. */
export interface MessageParts {
  readonly sendId: string;
  readonly channel: Channel;
  /** The checked address. */
  readonly to: string;
  readonly from: Sender | null;
  /** Mail only. */
  readonly replyTo: string | null;
  readonly topic: string | null;
  readonly correlationId: string;
  readonly parts: Readonly<Record<string, string>>;
  /** Mail only. */
  readonly messageId: string | null;
  /** Marketing mail only: where one click ends it (RFC 8058). */
  readonly unsubscribeUrl: string | null;
  /** Values of a provider's own template. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Where the provider reports to, if it does. */
  readonly webhookUrl: string | null;
  readonly date: Date;
}
