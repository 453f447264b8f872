import type { Channel } from '../addresses/channel.js';
import type { QuietHours } from '../calendar/quiet-hours.js';
import type { ChannelDocument } from './channel-document.js';
import type { Provider } from './channel-providers.js';
import type { Sender } from './sender.js';

/** A provider that takes a signed POST. */
export interface HttpWay {
  readonly kind: 'http';
  readonly url: string;
  readonly secret: string;
  /** The platform's own provider is the operator's choice; a customer's must be a public address. */
  readonly trusted: boolean;
}

/** A mail server. */
export interface SmtpWay {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  readonly security: 'none' | 'starttls' | 'tls';
  readonly username?: string;
  readonly password?: string;
  readonly trusted: boolean;
}

/** Twilio's API, or one of its shape. */
export interface TwilioWay {
  readonly kind: 'twilio';
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
}

/** The contact's own inbox; in local mode a copy is shown where all other messages are. */
export interface InboxWay {
  readonly kind: 'inbox';
  readonly copyTo: HttpWay | undefined;
}

/** How a channel sends, secrets opened: for the gate and for what its provider reports, and for nobody else. */
export interface ChannelPlan {
  readonly channel: Channel;
  readonly provider: Provider;
  /** Null where the channel needs none. */
  readonly from: Sender | null;
  readonly replyTo: string | null;
  readonly maxPerSecond: number | undefined;
  readonly consentMode: 'opt_out' | 'opt_in';
  /** Names one way out; as long as it stays the same, connections are kept. */
  readonly transportKey: string;
  readonly way: SmtpWay | TwilioWay | HttpWay | InboxWay;
  /** Sent in the platform's own account: its provider reports without naming an organization. */
  readonly byPlatform: boolean;
  readonly webhookUrl: string | null;
}

/** How an organization sends. */
export interface SendingPlan {
  readonly organizationId: string;
  readonly channels: Readonly<Partial<Record<Channel, ChannelPlan>>>;
  readonly quietHours: QuietHours | null;
  readonly caps: ChannelDocument['caps'];
  readonly topics: ChannelDocument['topics'];
}
