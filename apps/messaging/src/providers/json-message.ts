import { listIdOf } from './mail.js';
import type { MessageParts } from './message-parts.js';

/** Of a part's name: the template that the provider keeps, by its name and language. */
const OF_TEMPLATE = 'provider_template.';

/** Of the name of one of its variables. */
const OF_VARIABLE = `${OF_TEMPLATE}variables.`;

/** One value of a provider's own template. */
interface TemplateParameter {
  /** Null where the template knows it by its place. */
  readonly name: string | null;
  readonly text: string;
}

/** A template that the provider keeps, and what it is filled with. */
export interface ProviderTemplate {
  readonly name: string;
  readonly language: string;
  readonly parameters: readonly TemplateParameter[];
}

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
              ...(from ? { 'List-Id': listIdOf({ from, topic: message.topic }) } : {}),
            },
          }),
    }),
  );
}

/** The provider's own template that a message names instead of having a text. */
export function providerTemplate(parts: Readonly<Record<string, string>>): ProviderTemplate | undefined {
  const name = parts[`${OF_TEMPLATE}name`];
  if (name === undefined) return undefined;
  return { name, language: parts[`${OF_TEMPLATE}language`] ?? '', parameters: parametersOf(parts) };
}

/** In the order in which the author wrote them; without a name where they have an order alone. */
function parametersOf(parts: Readonly<Record<string, string>>): TemplateParameter[] {
  return Object.entries(parts)
    .filter(([part]) => part.startsWith(OF_VARIABLE))
    .map(([part, text]) => {
      const name = part.slice(OF_VARIABLE.length);
      return { name: /^\d+$/.test(name) ? null : name, text };
    });
}

/** By name; a list where they have places alone. */
function valuesOf(parameters: readonly TemplateParameter[]): string[] | Record<string, string> {
  return parameters.some(({ name }) => name !== null)
    ? Object.fromEntries(parameters.map(({ name, text }) => [name ?? '', text]))
    : parameters.map(({ text }) => text);
}

function templateOf(parts: Readonly<Record<string, string>>, data: Readonly<Record<string, unknown>>) {
  const template = providerTemplate(parts);
  if (template === undefined) return {};
  const { name, language, parameters } = template;
  const variables = parameters.length > 0 ? { variables: valuesOf(parameters) } : {};
  return { provider_template: { name, language, ...variables }, data };
}
