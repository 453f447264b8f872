import type { MessageParts } from './message-parts.js';

/** Of a part's name: the template that the provider keeps, by its name and language. */
const OF_TEMPLATE = 'provider_template.';

/** The JSON an HTTP provider is handed: the message's own parts beside where it goes. */
export function composeJson(message: MessageParts): Buffer {
  const { from, parts, messageId, unsubscribeUrl } = message;
  const own = Object.entries(parts).filter(([name]) => !name.startsWith(OF_TEMPLATE));
  return Buffer.from(
    JSON.stringify({
      send_id: message.sendId,
      channel: message.channel,
      to: message.to,
      from: from && (from.name === '' ? from.address : `${from.name} <${from.address}>`),
      ...(message.replyTo === null ? {} : { reply_to: message.replyTo }),
      topic: message.topic,
      correlation_id: message.correlationId,
      ...Object.fromEntries(own),
      ...templateOf(parts, message.data),
      ...(messageId === null ? {} : { message_id: messageId }),
      ...(unsubscribeUrl === null
        ? {}
        : {
            headers: {
              'List-Unsubscribe': `<${unsubscribeUrl}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            },
          }),
    }),
  );
}

/** The provider's own template that a message names instead of having a text. */
export function providerTemplate(
  parts: Readonly<Record<string, string>>,
): { name: string; language: string } | undefined {
  const name = parts[`${OF_TEMPLATE}name`];
  return name === undefined ? undefined : { name, language: parts[`${OF_TEMPLATE}language`] ?? '' };
}

function templateOf(parts: Readonly<Record<string, string>>, data: Readonly<Record<string, unknown>>) {
  const template = providerTemplate(parts);
  return template === undefined ? {} : { provider_template: template, data };
}
