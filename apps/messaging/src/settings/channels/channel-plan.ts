import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { QuietHours } from '../../vocabulary/calendar/quiet-hours.js';
import type { Carried } from '../../background/makers/maker-rights.js';
import type { MessageParts } from '../../providers/message-parts.js';
import type { TransportConfig } from '../../providers/transport-config.js';
import type { ChannelDocument } from './channel-document.js';
import type { Sender } from '../../vocabulary/senders/sender.js';

/** How a channel sends, secrets opened: for the gate and for what its provider reports, and for nobody else. */
export interface ChannelPlan {
  readonly channel: Channel;
  /** Its name. */
  readonly provider: string;
  /** The bytes of a message in the form the provider takes. */
  readonly compose: (message: MessageParts) => Buffer | Promise<Buffer>;
  /** Null where the channel needs none. */
  readonly from: Sender | null;
  readonly replyTo: string | null;
  readonly maxPerSecond: number | undefined;
  readonly consentMode: 'opt_out' | 'opt_in';
  /** Names one way out; as long as it stays the same, connections are kept. */
  readonly transportKey: string;
  readonly way: TransportConfig;
  /** Of the settings that say so; 0 of the platform's own. */
  readonly version: number;
  /** Sent in the platform's own account: its provider reports without naming an organization. */
  readonly byPlatform: boolean;
  readonly webhookUrl: string | null;
}

/** How an organization sends. */
export interface SendingPlan {
  readonly organizationId: string;
  readonly channels: Readonly<Partial<Record<Channel, ChannelPlan>>>;
  /** Channels of which a secret does not open: what leaves by them waits. */
  readonly unreadable: readonly Channel[];
  readonly quietHours: QuietHours | null;
  readonly caps: ChannelDocument['caps'];
  readonly topics: ChannelDocument['topics'];
  /** By whose rights messages leave; undefined of the platform's own channels. */
  readonly carried?: Carried;
}
