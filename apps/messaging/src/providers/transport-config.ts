import type { Channel } from '../vocabulary/addresses/channel.js';

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
  /** Of a campaign: where there is no connection for all, the others go first. */
  readonly patient?: boolean;
}

/**
 * How a hand-off ended.
 * - `sent`: the provider has taken the message.
 * - `deferred`: it has not, and may later (4xx, a connection that broke before the content).
 * - `bounced`: it refused it for good (5xx): for its recipient, its sender or what it says.
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
  /** Of `deferred`: it takes no more of anybody for now; others need not be told it, too. */
  readonly throttled?: boolean;
}

/** What is posted. */
export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A whole answer; its body is cut at 64 KiB. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A header of an answer that stands there once. */
export function answerHeader({ headers }: Pick<HttpAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/**
 * How a request ended.
 * - `answered`: with a status and a body.
 * - `unsent`: nothing of it left this process; `late` because the lease was over first, `refused` because the address
 *   leads where nobody may be sent to.
 * - `invalid`: it is no request that can be written, such as a header with a line break; nothing left.
 * - `cut`: it had begun to leave and no whole answer came; nobody can tell what became of it.
 */
export type HttpResult =
  | ({ readonly kind: 'answered' } & HttpAnswer)
  | { readonly kind: 'unsent'; readonly late: boolean; readonly refused?: boolean }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'cut' };

/** What a speaker may use beside its own knowledge: of the connections it is given, and of nothing else. */
export interface SpeakerTools {
  /** Posts what is no message, such as the wish for a token, over the transport's own checked connections. */
  post(request: HttpPost): Promise<HttpResult>;
  now(): Date;
}

/** How one account of a provider is spoken to; made once for each transport, so that it may keep a token. */
export interface HttpSpeaker {
  /**
   * The request of a message; what changes with each attempt, such as a signature, is made here, and what the request
   * waits for, such as a token, is waited for. A hand-off where there is nothing to ask: then nothing leaves.
   */
  request(message: OutgoingMessage): HttpPost | HandOff | Promise<HttpPost | HandOff>;
  /**
   * What an answer says of the message, in the provider's own words; they count more than the status. Undefined leaves
   * it to the status. `again`: nothing was taken, and the same message goes out once more at once.
   */
  read(answer: HttpAnswer): HandOff | 'again' | undefined;
}

/** Requests over HTTP, one for each message. */
export interface HttpTransportConfig {
  readonly kind: 'http';
  /** The platform's own provider is the operator's choice; a customer's must be a public address. */
  readonly trusted: boolean;
  /** Speaks HTTP/2, many requests on one connection. */
  readonly http2?: boolean;
  /** Each message goes to a server that its recipient names: what one of them does says nothing of the others. */
  readonly eachElsewhere?: boolean;
  speaker(tools: SpeakerTools): HttpSpeaker;
}

/** The access token of an account, asked for as it is needed. */
export interface Tokens {
  /** The token, or how the hand-off ends that needs it. */
  get(): Promise<string | HandOff>;
  /** The provider does not take this one any more. */
  forget(token: string): void;
}

/** A mail server. */
export interface SmtpTransportConfig {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  readonly security: 'none' | 'starttls' | 'tls';
  readonly username?: string;
  readonly password?: string;
  /** Access tokens in place of a password; made once for each transport. */
  tokens?: (tools: SpeakerTools) => Tokens;
  readonly trusted: boolean;
}

/** The contact's own inbox; in local mode a copy is shown where all other messages are. */
interface InboxTransportConfig {
  readonly kind: 'inbox';
  readonly copyTo: HttpTransportConfig | undefined;
}

/** Configures the transport of an account. The gate alone makes the connection. */
export type TransportConfig = HttpTransportConfig | SmtpTransportConfig | InboxTransportConfig;
