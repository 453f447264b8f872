import { providerTemplate } from '../json-message.js';
import type { MessageParts } from '../message-parts.js';

/** A sender pool of Twilio's, instead of one number. */
const SERVICE = /^MG[0-9a-fA-F]{32}$/;

/**
 * The form of Twilio's Messages resource. The callback names the send, so that a report finds it even where the answer
 * with Twilio's own id was lost.
 */
export function composeTwilioMessage(message: MessageParts): Buffer {
  const prefix = message.channel === 'whatsapp' ? 'whatsapp:' : '';
  const address = message.from?.address ?? '';
  const template = providerTemplate(message.parts);
  const form = new URLSearchParams({
    To: `${prefix}${message.to}`,
    ...(SERVICE.test(address) ? { MessagingServiceSid: address } : { From: `${prefix}${address}` }),
    ...(template === undefined
      ? { Body: message.parts['text'] ?? '' }
      : { ContentSid: template.name, ContentVariables: JSON.stringify(message.data) }),
    StatusCallback: `${message.webhookUrl ?? ''}&send=${message.sendId}`,
  });
  return Buffer.from(form.toString());
}
