import { randomUUID } from 'node:crypto';
import {
  type CaughtMessage,
  type Channel,
  type ProviderMessage,
  aMail,
  aProviderMessage,
  parseMail,
} from './caught-message.ts';

interface MailboxLimits {
  messages: number;
  bytes: number;
}

/** What a reader asks for; every part is optional and all must hold. */
export interface MessageFilter {
  /** A whole address, ignoring case. */
  to?: string;
  correlationId?: string;
  channel?: Channel;
  /** Words in addresses, subject or text, ignoring case. */
  words?: string;
}

/** Older messages make place for newer ones. */
const DEFAULT_LIMITS: MailboxLimits = { messages: 5_000, bytes: 64 * 2 ** 20 };

type Listener = () => void;

/** The newest messages, in memory, bounded in number and bytes. */
export class Mailbox {
  private messages: CaughtMessage[] = [];
  /** Where the oldest message stands: dropping one must not move the others. */
  private first = 0;
  private bytes = 0;
  /** Every message ever taken, also those that had to make place. */
  private taken = 0;
  private readonly listeners = new Set<Listener>();
  private readonly texts = new WeakMap<CaughtMessage, string>();
  private readonly limits: MailboxLimits;

  constructor(limits: MailboxLimits = DEFAULT_LIMITS) {
    this.limits = limits;
  }

  takeMail(raw: Buffer, envelope: { from: string; to: string[] }, at = new Date()): CaughtMessage {
    return this.take(aMail(randomUUID(), raw, envelope, at));
  }

  takeProviderMessage(message: ProviderMessage, at = new Date()): CaughtMessage {
    const raw = Buffer.from(JSON.stringify(message));
    return this.take(aProviderMessage(randomUUID(), message, raw, at));
  }

  /** Adds a message as it is; the way back from a file. */
  take(message: CaughtMessage): CaughtMessage {
    this.messages.push(message);
    this.bytes += message.size;
    this.taken += 1;
    while (this.count > this.limits.messages || (this.bytes > this.limits.bytes && this.count > 1))
      this.dropOldest();
    for (const listener of this.listeners) listener();
    return message;
  }

  get count(): number {
    return this.messages.length - this.first;
  }

  get everTaken(): number {
    return this.taken;
  }

  /** Newest first. */
  *newest(): Generator<CaughtMessage> {
    for (let index = this.messages.length - 1; index >= this.first; index -= 1) {
      yield this.messages[index] as CaughtMessage;
    }
  }

  get(id: string): CaughtMessage | undefined {
    for (const message of this.newest()) if (message.id === id) return message;
    return undefined;
  }

  /** The newest messages that fit, at most `limit`, older than message `before` when given. */
  async find(filter: MessageFilter, limit: number, before?: string): Promise<CaughtMessage[]> {
    const found: CaughtMessage[] = [];
    let begun = before === undefined;
    for (const message of this.newest()) {
      if (begun && (await this.fits(message, filter))) found.push(message);
      if (found.length >= limit) break;
      begun ||= message.id === before;
    }
    return found;
  }

  clear(): void {
    this.messages = [];
    this.first = 0;
    this.bytes = 0;
    for (const listener of this.listeners) listener();
  }

  /** Calls back on every change. @returns what ends it. */
  watch(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private dropOldest(): void {
    this.bytes -= this.messages[this.first]?.size ?? 0;
    this.first += 1;
    if (this.first * 2 < this.messages.length) return;
    this.messages = this.messages.slice(this.first);
    this.first = 0;
  }

  private async fits(
    message: CaughtMessage,
    { to, correlationId, channel, words }: MessageFilter,
  ): Promise<boolean> {
    if (channel !== undefined && message.channel !== channel) return false;
    if (correlationId !== undefined && message.correlation_id !== correlationId) return false;
    if (to !== undefined && !message.to.some((address) => address.toLowerCase() === to.toLowerCase()))
      return false;
    if (words === undefined || words === '') return true;
    const text = await this.searchText(message);
    return words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word));
  }

  /** Parsed when first searched, kept as long as the message. */
  private async searchText(message: CaughtMessage): Promise<string> {
    const known = this.texts.get(message);
    if (known !== undefined) return known;
    const head = [message.from, ...message.to, message.subject, message.correlation_id ?? ''].join('\n');
    const body = message.channel === 'email' ? await mailText(message) : message.raw.toString('utf8');
    const text = `${head}\n${body}`.toLowerCase();
    this.texts.set(message, text);
    return text;
  }
}

const SEARCHED_CHARACTERS = 8_192;

async function mailText(message: CaughtMessage): Promise<string> {
  const { text, html } = await parseMail(message);
  return (text ?? html?.replace(/<[^>]*>/g, ' ') ?? '').slice(0, SEARCHED_CHARACTERS);
}
