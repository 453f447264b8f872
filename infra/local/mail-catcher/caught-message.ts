import PostalMime, { type Email, decodeWords } from 'postal-mime';

export const CHANNELS = ['email', 'sms', 'push', 'whatsapp', 'in_app'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What a list shows of a message. */
interface MessageSummary {
  id: string;
  channel: Channel;
  from: string;
  to: string[];
  subject: string;
  /** The header `X-Correlation-Id`: the event that the message was caused by. */
  correlation_id: string | null;
  message_id: string | null;
  /** When the last byte had come in; milliseconds, UTC. */
  received_at: string;
  size: number;
}

/** A message as it is kept: what lists and filters need, and the bytes that came. */
export interface CaughtMessage extends MessageSummary {
  raw: Buffer;
}

/** The head of a mail's source; a mail has at most this much that lists need. */
const HEAD_BYTES = 32_768;

/** The header fields of a mail by lower-case name, unfolded; the first of a name wins. */
export function readHeaders(raw: Buffer): Map<string, string> {
  const head = raw.toString('utf8', 0, Math.min(raw.length, HEAD_BYTES));
  const end = head.search(/\r?\n\r?\n/);
  const lines = (end < 0 ? head : head.slice(0, end)).replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/** A mail as it came by SMTP. Only its head is read: the rest is parsed when somebody looks at it. */
export function aMail(
  id: string,
  raw: Buffer,
  envelope: { from: string; to: string[] },
  at: Date,
): CaughtMessage {
  const headers = readHeaders(raw);
  return {
    id,
    channel: 'email',
    from: decodeWords(headers.get('from') ?? envelope.from),
    to: envelope.to,
    subject: decodeWords(headers.get('subject') ?? ''),
    correlation_id: headers.get('x-correlation-id') ?? null,
    message_id: headers.get('message-id') ?? null,
    received_at: at.toISOString(),
    size: raw.length,
    raw,
  };
}

/** A message of another channel, as an HTTP provider gets it. */
export interface ProviderMessage {
  channel: Channel;
  to: string;
  from?: string;
  title?: string;
  body?: string;
  text?: string;
  url?: string;
  correlation_id?: string;
}

export function aProviderMessage(id: string, message: ProviderMessage, raw: Buffer, at: Date): CaughtMessage {
  return {
    id,
    channel: message.channel,
    from: message.from ?? '',
    to: [message.to],
    subject: message.title ?? message.text ?? message.body ?? '',
    correlation_id: message.correlation_id ?? null,
    message_id: id,
    received_at: at.toISOString(),
    size: raw.length,
    raw,
  };
}

interface Attachment {
  filename: string;
  content_type: string;
  size: number;
}

/** A whole message, as `GET /messages/{id}` answers it. */
interface MessageDetails extends MessageSummary {
  text: string;
  html: string | null;
  headers: { name: string; value: string }[];
  attachments: Attachment[];
}

export function toSummary({ raw: _raw, ...summary }: CaughtMessage): MessageSummary {
  return summary;
}

export async function toDetails(message: CaughtMessage): Promise<MessageDetails> {
  const summary = toSummary(message);
  if (message.channel !== 'email') {
    const content = JSON.parse(message.raw.toString('utf8')) as ProviderMessage;
    const text = [content.title, content.text ?? content.body, content.url].filter(Boolean).join('\n');
    return { ...summary, text, html: null, headers: [], attachments: [] };
  }
  const mail = await parseMail(message);
  return {
    ...summary,
    text: mail.text ?? '',
    html: mail.html ?? null,
    headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    attachments: mail.attachments.map(({ filename, mimeType, content }) => ({
      filename: filename ?? 'unnamed',
      content_type: mimeType,
      size: content instanceof ArrayBuffer ? content.byteLength : content.length,
    })),
  };
}

export function parseMail(message: CaughtMessage): Promise<Email> {
  return PostalMime.parse(message.raw);
}
