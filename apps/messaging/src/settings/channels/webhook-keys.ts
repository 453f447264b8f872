import { createHmac, hkdfSync } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { equalInConstantTime } from '../../vocabulary/signatures/constant-time.js';
import type { Provider } from '../../providers/provider.js';

/** The account that a provider reports on: a channel of an organization. */
interface WebhookAccount {
  readonly organizationId: string;
  readonly channel: Channel;
}

const ID_BYTES = 16;
const MAC_BYTES = 16;
const KEY = /^[A-Za-z0-9_-]{44}$/;
/**
 * The `key` of a channel's `webhook_url`: it names the organization and the channel, so that their secret is the one
 * that is tried. It proves nothing by itself and needs no table: its last bytes only keep it from being made up.
 */
@Injectable()
export class WebhookKeys {
  private readonly secret: Buffer;

  constructor(@Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig) {
    this.secret = Buffer.from(
      hkdfSync('sha256', config.encryptionKey, Buffer.alloc(0), 'messaging webhook keys', 32),
    );
  }

  /** Where the provider of a channel reports to; null where it does not. */
  urlOf(account: WebhookAccount, provider: Pick<Provider, 'webhooks'>): string | null {
    const [path] = Object.keys(provider.webhooks);
    if (path === undefined) return null;
    return `${this.config.publicUrl}/v1/messaging/webhooks/${path}?key=${this.keyOf(account)}`;
  }

  /** The account a key names; undefined for one that was not made here. */
  read(key: string): WebhookAccount | undefined {
    if (!KEY.test(key)) return undefined;
    const bytes = Buffer.from(key, 'base64url');
    const id = bytes.subarray(0, ID_BYTES).toString('hex');
    const channel = CHANNELS[bytes[ID_BYTES] ?? CHANNELS.length];
    if (channel === undefined) return undefined;
    const organizationId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    return equalInConstantTime(this.keyOf({ organizationId, channel }), key)
      ? { organizationId, channel }
      : undefined;
  }

  private keyOf({ organizationId, channel }: WebhookAccount): string {
    const id = Buffer.from(organizationId.replaceAll('-', ''), 'hex');
    const named = Buffer.concat([id, Buffer.of(CHANNELS.indexOf(channel))]);
    const mac = createHmac('sha256', this.secret).update(named).digest().subarray(0, MAC_BYTES);
    return Buffer.concat([named, mac]).toString('base64url');
  }
}
