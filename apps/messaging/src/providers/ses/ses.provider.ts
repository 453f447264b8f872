import { z } from 'zod';
import { composeMail } from '../mail.js';
import type { MessageParts } from '../message-parts.js';
import { defineProvider } from '../provider.js';
import { anySecret, identifier, webAddress } from '../setting-fields.js';
import { sesApi } from './ses-api.js';
import { sesWebhook } from './ses-webhook.js';

/** Amazon SES, API v2; it signs what it sends by the keys of the domain it has. */
export const ses = defineProvider({
  name: 'ses',
  channels: ['email'],
  fields: {
    region: z.string().regex(/^[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d$/, 'Expected a region such as us-east-1'),
    access_key_id: z.string().regex(/^[A-Z0-9]{16,128}$/, 'Expected an access key id'),
    configuration_set: identifier(64).nullish(),
    /** The topic of SNS that reports; without it nothing is reported. */
    topic_arn: z
      .string()
      .regex(/^arn:aws[a-z-]{0,10}:sns:[a-z0-9-]{5,30}:\d{12}:[\w-]{1,256}$/, 'Expected the ARN of a topic')
      .nullish(),
    base_url: webAddress.nullish(),
  },
  secrets: { secret_access_key: anySecret },
  destinations: ({ region, base_url: own }) => [{ field: 'base_url', address: own ?? hostOf(region) }],
  open({ setting: { region, access_key_id: accessKeyId, base_url: own }, secret }) {
    const secretAccessKey = secret('secret_access_key');
    if (secretAccessKey === undefined) return undefined;
    const account = { region, accessKeyId, secretAccessKey, baseUrl: own ?? hostOf(region) };
    return { kind: 'http', trusted: false, speaker: (tools) => sesApi(account, tools) };
  },
  compose: (message, { configuration_set: set }) => composeRaw(message, set),
  webhooks: { ses: sesWebhook },
});

function hostOf(region: string): string {
  return `https://email.${region}.amazonaws.com`;
}

/** The mail as it is; SES puts a Message-ID of its own in place of ours, so a tag names the send. */
async function composeRaw(message: MessageParts, set: string | null | undefined): Promise<Buffer> {
  const { from, parts, to, sendId } = message;
  const mail = await composeMail({
    ...message,
    from: from ?? { name: '', address: '' },
    subject: parts['subject'] ?? '',
    html: parts['html'],
    text: parts['text'] ?? '',
    messageId: message.messageId ?? '',
  });
  return Buffer.from(
    JSON.stringify({
      FromEmailAddress: from?.address,
      Destination: { ToAddresses: [to] },
      Content: { Raw: { Data: mail.toString('base64') } },
      EmailTags: [{ Name: 'send', Value: sendId }],
      ...(set ? { ConfigurationSetName: set } : {}),
    }),
  );
}
