import { randomBytes } from 'node:crypto';
import { composeMail } from '../mail.js';
import type { MessageParts } from '../message-parts.js';

/** The form of Mailgun's `messages.mime`: the mail as it is, and beside it whom it is for and what reports name. */
export async function composeMailgunMessage(message: MessageParts): Promise<Buffer> {
  const { from, parts, messageId, sendId, to } = message;
  const mail = await composeMail({
    ...message,
    from: from ?? { name: '', address: '' },
    subject: parts['subject'] ?? '',
    html: parts['html'],
    text: parts['text'] ?? '',
    messageId: messageId ?? '',
  });
  const boundary = randomBytes(18).toString('hex');
  const field = (name: string, text: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  return Buffer.concat([
    Buffer.from(field('to', to) + field('v:send', sendId)),
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="message"; filename="message.eml"\r\n` +
        'content-type: message/rfc822\r\n\r\n',
    ),
    mail,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}

/** The content type of such a form; it begins with its boundary. */
export function formType(content: Buffer): string {
  return `multipart/form-data; boundary=${content.subarray(2, content.indexOf('\r\n')).toString('latin1')}`;
}
