import type { ChannelPlan } from '../../channels/channel-plan.js';
import type { PlatformSmtp } from '../../messaging.config.js';
import { smtp as mailServer } from '../../providers/smtp/smtp.provider.js';

/** How identity's mail leaves: the platform's own server and sender, connections apart from everybody's. */
export function identityPlan(smtp: PlatformSmtp): ChannelPlan {
  return {
    channel: 'email',
    provider: mailServer.name,
    compose: (message) => mailServer.compose(message),
    from: { name: '', address: smtp.from },
    replyTo: null,
    maxPerSecond: undefined,
    consentMode: 'opt_out',
    transportKey: 'platform/identity',
    way: { kind: 'smtp', ...smtp, trusted: true },
    byPlatform: true,
    webhookUrl: null,
  };
}
