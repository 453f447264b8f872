import { z } from 'zod';
import { composeMail } from '../mail.js';
import { defineProvider } from '../provider.js';
import { serviceAccount } from '../service-account.js';
import { anySecret, HEADER_TEXT, host, webAddress } from '../setting-fields.js';
import { mailTokens } from './mail-tokens.js';

/** A mail server of the organization's own. It reports nothing: what it has to say, it says while it is spoken to. */
export const smtp = defineProvider({
  name: 'smtp',
  channels: ['email'],
  fields: {
    host,
    port: z.int().min(1).max(65_535).default(587),
    security: z.enum(['none', 'starttls', 'tls']).default('starttls'),
    username: z.string().min(1).max(320).nullish(),
    /** By password where it says nothing. */
    auth: z.enum(['password', 'oauth2']).nullish(),
    token_url: webAddress.nullish(),
    client_id: z.string().max(320).regex(HEADER_TEXT, 'Expected visible ASCII characters').nullish(),
    scope: z.string().min(1).max(1_000).nullish(),
  },
  secrets: {
    password: anySecret,
    client_secret: anySecret,
    refresh_token: z.string().max(8_000).regex(HEADER_TEXT, 'Expected visible ASCII characters'),
    service_account: serviceAccount,
  },
  destinations: ({ host: address, auth, token_url: token }) => [
    { field: 'host', address: address.toLowerCase() },
    ...(auth === 'oauth2' && token ? [{ field: 'token_url', address: token }] : []),
  ],
  open({ setting, secret, platform, byDefault }) {
    if (byDefault && platform.smtp) return { kind: 'smtp', ...platform.smtp, trusted: true };
    const { host: name, port, security, username } = setting;
    const server = { kind: 'smtp', host: name, port, security, trusted: false } as const;
    if (setting.auth === 'oauth2') {
      const tokens = mailTokens(setting, secret);
      return username && tokens ? { ...server, username, tokens } : undefined;
    }
    const password = secret('password');
    return { ...server, ...(username ? { username } : {}), ...(password === undefined ? {} : { password }) };
  },
  compose({ from, parts, messageId, ...message }) {
    return composeMail({
      ...message,
      from: from ?? { name: '', address: '' },
      subject: parts['subject'] ?? '',
      html: parts['html'],
      text: parts['text'] ?? '',
      messageId: messageId ?? '',
    });
  },
  webhooks: {},
});
