import { z } from 'zod';
import { defineProvider } from '../provider.js';
import { headerSecret, webAddress } from '../setting-fields.js';
import { twilioApi } from './twilio-api.js';
import { composeTwilioMessage } from './twilio-message.js';
import { twilioWebhook } from './twilio-webhook.js';

/** Twilio's Programmable Messaging, or a service of its shape. */
export const twilio = defineProvider({
  name: 'twilio',
  channels: ['sms', 'whatsapp'],
  fields: {
    account_sid: z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'Expected AC and 32 hex digits'),
    base_url: webAddress.default('https://api.twilio.com'),
  },
  secrets: { auth_token: headerSecret },
  destinations: ({ base_url: address }) => [{ field: 'base_url', address }],
  open({ setting: { account_sid: accountSid, base_url: baseUrl }, secret }) {
    const authToken = secret('auth_token');
    if (authToken === undefined) return undefined;
    return { kind: 'http', trusted: false, speaker: () => twilioApi({ accountSid, authToken, baseUrl }) };
  },
  compose: composeTwilioMessage,
  webhooks: { twilio: twilioWebhook },
});
