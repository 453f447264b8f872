import { CHANNELS, type Channel } from '../../vocabulary/addresses/channel.js';
import type { MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import type { ChannelDocument } from './channel-document.js';

/** As many a second as nobody reaches: the platform's own providers in local mode limit nothing. */
const UNLIMITED = 10_000;

/**
 * The channels everybody has in local mode until they configure their own: mail to the platform's server, sms, push
 * and whatsapp to its provider, in_app to the inbox. In production there are none.
 */
export function platformChannels(config: MessagingConfig): ChannelDocument['channels'] {
  if (!config.local) return {};
  const common = { enabled: true, max_per_second: UNLIMITED, consent_mode: 'opt_out' as const };
  const { platformSmtp: smtp, platformProvider: provider } = config;
  const http = provider && { ...common, provider: 'http' as const, url: provider.url };
  return {
    ...(smtp
      ? {
          email: {
            ...common,
            provider: 'smtp',
            from: smtp.from,
            host: smtp.host,
            port: smtp.port,
            security: smtp.security,
          },
        }
      : {}),
    ...(http
      ? { sms: { ...http, from: 'PLATFORM' }, push: http, whatsapp: { ...http, from: '+15005550006' } }
      : {}),
    in_app: { ...common, provider: 'inbox' },
  };
}

/** The channels of a document with their names, in one order. */
export function settingsOf(channels: ChannelDocument['channels']) {
  return CHANNELS.flatMap((channel) => {
    const setting = channels[channel];
    return setting ? [[channel, setting] as const] : [];
  });
}

/** A document's channels from their names. */
export function channelsFrom<T>(entries: readonly (readonly [Channel, T])[]): Partial<Record<Channel, T>> {
  return Object.fromEntries(entries);
}
