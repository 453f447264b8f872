import { providerTemplate } from '../json-message.js';
import type { MessageParts } from '../message-parts.js';

/**
 * A message of WhatsApp's Cloud API. What reports come back with names the send, so that one is found even where the
 * answer with Meta's own id was lost.
 */
export function composeMetaMessage({ to, parts, sendId }: MessageParts): Buffer {
  const template = providerTemplate(parts);
  const content =
    template === undefined
      ? { type: 'text', text: { preview_url: false, body: parts['text'] ?? '' } }
      : {
          type: 'template',
          template: {
            name: template.name,
            language: { code: template.language },
            ...(template.parameters.length > 0
              ? { components: [{ type: 'body', parameters: template.parameters.map(parameterOf) }] }
              : {}),
          },
        };
  return Buffer.from(
    JSON.stringify({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: to.replace(/^\+/, ''),
      ...content,
      biz_opaque_callback_data: sendId,
    }),
  );
}

function parameterOf({ name, text }: { readonly name: string | null; readonly text: string }) {
  return { type: 'text', ...(name === null ? {} : { parameter_name: name }), text };
}
