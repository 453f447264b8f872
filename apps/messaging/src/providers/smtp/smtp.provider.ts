import { z } from 'zod';
import { composeMail } from '../../gate/composition/mail.js';
import { defineProvider } from '../provider.js';
import { anySecret, host } from '../setting-fields.js';

/** A mail server of the organization's own. It reports nothing: what it has to say, it says while it is spoken to. */
export const smtp = defineProvider({
  name: 'smtp',
  channels: ['email'],
  fields: {
    host,
    port: z.int().min(1).max(65_535).default(587),
    security: z.enum(['none', 'starttls', 'tls']).default('starttls'),
    username: z.string().min(1).max(320).nullish(),
  },
  secrets: { password: anySecret },
  destinations: ({ host: address }) => [{ field: 'host', address: address.toLowerCase() }],
  open({ setting, secret, platform, byDefault }) {
    if (byDefault && platform.smtp) return { kind: 'smtp', ...platform.smtp, trusted: true };
    const { host: name, port, security, username } = setting;
    const password = secret('password');
    return {
      kind: 'smtp',
      host: name,
      port,
      security,
      ...(username ? { username } : {}),
      ...(password === undefined ? {} : { password }),
      trusted: false,
    };
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
