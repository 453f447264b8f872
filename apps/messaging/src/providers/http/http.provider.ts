import { z } from 'zod';
import { CHANNELS } from '../../vocabulary/addresses/channel.js';
import { isStandardSecret } from '../../vocabulary/signatures/standard-webhooks.js';
import { composeJson } from '../json-message.js';
import { defineProvider, type PlatformAccounts } from '../provider.js';
import { webAddress } from '../setting-fields.js';
import type { HttpTransportConfig } from '../transport-config.js';
import { genericWebhook } from './generic-webhook.js';
import { isPlatforms } from './http-account.js';
import { signedPost } from './signed-post.js';
import { standardWebhook } from './standard-webhook.js';

/** Any service that takes a JSON message signed by Standard Webhooks, and reports with the same secret. */
export const http = defineProvider({
  name: 'http',
  channels: CHANNELS,
  fields: { url: webAddress },
  secrets: {
    secret: z
      .string()
      .max(1_000)
      .refine(isStandardSecret, 'Expected whsec_ and 24 to 64 bytes in base64, as Standard Webhooks has it'),
  },
  destinations: ({ url }) => [{ field: 'url', address: url }],
  /** Who puts back what local mode began with goes on in the platform's account: its secret is shown to nobody. */
  open(account) {
    const own = account.secret('secret');
    if (own !== undefined) return wayTo(account.setting.url, own, false);
    return isPlatforms(account) ? platformWay(account.platform) : undefined;
  },
  compose: composeJson,
  webhooks: { standard: standardWebhook, generic: genericWebhook },
  ofPlatform(platform) {
    const { http: account } = platform;
    return (
      account && {
        channel: 'push',
        setting: {
          enabled: true,
          provider: 'http',
          max_per_second: 1,
          consent_mode: 'opt_out',
          url: account.url,
        },
        secret: () => account.secret,
        platform,
        byDefault: true,
      }
    );
  },
});

/** The way to the platform's own provider, which local mode alone has. */
export function platformWay({ local, http: account }: PlatformAccounts): HttpTransportConfig | undefined {
  return local && account ? wayTo(account.url, account.secret, true) : undefined;
}

function wayTo(url: string, secret: string, trusted: boolean): HttpTransportConfig {
  return { kind: 'http', trusted, speaker: () => signedPost({ url, secret }) };
}
