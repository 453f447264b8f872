import { providerTemplate, type ProviderTemplate } from '../json-message.js';
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
      : { ContentSid: template.name, ContentVariables: JSON.stringify(variablesOf(template, message.data)) }),
    StatusCallback: `${message.webhookUrl ?? ''}&send=${message.sendId}`,
  });
  return Buffer.from(form.toString());
}

/** Twilio counts places from 1; a template without variables of its own is filled with the send's `data`. */
function variablesOf({ parameters }: ProviderTemplate, data: MessageParts['data']): object {
  return parameters.length > 0
    ? Object.fromEntries(parameters.map(({ name, text }, index) => [name ?? String(index + 1), text]))
    : data;
}
