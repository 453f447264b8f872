import type { ChannelPlan } from '../../settings/channels/channel-plans.js';
import type { PlatformSmtp } from '../../vocabulary/config/messaging.config.js';
import { smtp as mailServer } from '../../providers/smtp/smtp.provider.js';

const SETTING = { enabled: true, provider: 'smtp', max_per_second: 10_000, consent_mode: 'opt_out' } as const;

/** How identity's mail leaves: the platform's own server and sender, connections apart from everybody's. */
export function identityPlan(smtp: PlatformSmtp): ChannelPlan {
  return {
    channel: 'email',
    provider: mailServer.name,
    compose: (message) => mailServer.compose(message, { ...SETTING, ...smtp, from: smtp.from }),
    from: { name: '', address: smtp.from },
    replyTo: null,
    maxPerSecond: undefined,
    consentMode: 'opt_out',
    transportKey: 'platform/identity',
    way: { kind: 'smtp', ...smtp, trusted: true },
    version: 0,
    byPlatform: true,
    webhookUrl: null,
  };
}
