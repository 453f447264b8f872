import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isChannel, type Channel } from '../../vocabulary/addresses/channel.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';

/** What a link ends: one topic, or all marketing of a channel, for one address. */
export interface Subscription {
  readonly organizationId: string;
  readonly channel: Channel;
  /** Of the address; the address itself is not in the link. */
  readonly addressKey: string;
  readonly topic: string | null;
}

/** What stands in a preview where the token of the recipient will be. */
const PREVIEW_TOKEN = 'preview';

/**
 * Unsubscribe links (messaging.md §11). The token says what it ends and is signed; it never expires, for a person may
 * click years later, and the same subscription always has the same link.
 */
@Injectable()
export class UnsubscribeLinks {
  private readonly key: Buffer;

  constructor(@Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig) {
    this.key = Buffer.from(
      hkdfSync('sha256', config.encryptionKey, Buffer.alloc(0), 'messaging unsubscribe', 32),
    );
  }

  /** The address of the page and of the one-click POST (RFC 8058). */
  urlOf(subscription: Subscription): string {
    return this.url(this.tokenOf(subscription));
  }

  /** What a preview shows in its place. */
  previewUrl(): string {
    return this.url(PREVIEW_TOKEN);
  }

  /** What a token ends; undefined when it is not one of ours, unaltered. */
  read(token: string): Subscription | undefined {
    const [payload = '', signature = '', ...rest] = token.split('.');
    // As text: a decoder reads several spellings of the last character as the same byte.
    const expected = Buffer.from(this.sign(payload));
    const given = Buffer.from(signature);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected))
      return undefined;
    // Only a text that was signed here is parsed.
    const parts = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown[];
    const [organizationId, channel, addressKey, topic] = parts;
    if (typeof organizationId !== 'string' || !isChannel(channel) || typeof addressKey !== 'string')
      return undefined;
    return { organizationId, channel, addressKey, topic: typeof topic === 'string' ? topic : null };
  }

  private tokenOf({ organizationId, channel, addressKey, topic }: Subscription): string {
    const payload = Buffer.from(JSON.stringify([organizationId, channel, addressKey, topic])).toString(
      'base64url',
    );
    return `${payload}.${this.sign(payload)}`;
  }

  private sign(payload: string): string {
    return createHmac('sha256', this.key).update(payload).digest('base64url');
  }

  private url(token: string): string {
    return `${this.config.publicUrl}/v1/messaging/unsubscribe?token=${token}`;
  }
}
