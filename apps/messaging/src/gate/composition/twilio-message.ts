import type { Channel } from '../../addresses/channel.js';
import type { Sender } from '../../channels/sender.js';
import { providerTemplate } from './provider-message.js';

/** What a message is made of, for Twilio. */
export interface TwilioMessageParts {
  readonly sendId: string;
  readonly channel: Channel;
  readonly to: string;
  readonly from: Sender;
  readonly parts: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, unknown>>;
  /** Where Twilio reports to. */
  readonly webhookUrl: string;
}

/** A sender pool of Twilio's, instead of one number. */
const SERVICE = /^MG[0-9a-fA-F]{32}$/;

/**
 * The form of Twilio's Messages resource. The callback names the send, so that a report finds it even where the answer
 * with Twilio's own id was lost.
 */
export function composeTwilioMessage(message: TwilioMessageParts): Buffer {
  const prefix = message.channel === 'whatsapp' ? 'whatsapp:' : '';
  const { address } = message.from;
  const template = providerTemplate(message.parts);
  const form = new URLSearchParams({
    To: `${prefix}${message.to}`,
    ...(SERVICE.test(address) ? { MessagingServiceSid: address } : { From: `${prefix}${address}` }),
    ...(template === undefined
      ? { Body: message.parts['text'] ?? '' }
      : { ContentSid: template.name, ContentVariables: JSON.stringify(message.data) }),
    StatusCallback: `${message.webhookUrl}&send=${message.sendId}`,
  });
  return Buffer.from(form.toString());
}
