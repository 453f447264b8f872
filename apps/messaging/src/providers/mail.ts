import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';

/** Everything a mail is made of. All text is final: rendered, checked, on one line where it is a header. */
export interface MailParts {
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  readonly to: string;
  readonly subject: string;
  readonly html: string | undefined;
  readonly text: string;
  readonly messageId: string;
  readonly correlationId: string;
  /** Marketing only: where one click ends it (RFC 8058). */
  readonly unsubscribeUrl: string | null;
  /** Of marketing: what it is about, the list that readers sort and leave by (RFC 2919). */
  readonly topic?: string | null;
  readonly date: Date;
}

/**
 * The bytes of a mail (RFC 5322, 2045–2049): a text part always, an HTML part where there is one, both
 * quoted-printable or base64 so that every server carries them. The same `messageId` on every attempt lets a later
 * report be matched to its send.
 */
export async function composeMail(parts: MailParts): Promise<Buffer> {
  const mail = new MailComposer({
    from: parts.from,
    ...(parts.replyTo ? { replyTo: { name: '', address: parts.replyTo } } : {}),
    to: { name: '', address: parts.to },
    ...(looksEncoded(parts.subject) ? {} : { subject: parts.subject }),
    text: inLines(parts.text),
    ...(parts.html === undefined ? {} : { html: inLines(parts.html) }),
    messageId: parts.messageId,
    date: parts.date,
    headers: headersOf(parts),
    // Content is text of the organization: nothing in it is a file to read or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  });
  return mail.compile().build();
}

/**
 * With CR LF at each line's end and nowhere else (RFC 5321 §2.3.8): a server that takes a lone CR or LF for an end would
 * see commands where a value of a contact says them.
 */
export function inLines(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n');
}

/** Whether a reader would take a plain text for an encoded one (RFC 2047), and show something else. */
function looksEncoded(text: string): boolean {
  return text.includes('=?');
}

/** One list for each topic of a sender's domain, and one for what has none. */
export function listIdOf({ from, topic }: Pick<MailParts, 'from' | 'topic'>): string {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return `<${topic ?? 'marketing'}.${domainToASCII(domain)}>`;
}

function headersOf(parts: MailParts): Record<string, string | { prepared: boolean; value: string }> {
  return {
    ...(looksEncoded(parts.subject)
      ? { Subject: { prepared: true, value: encodeWord(parts.subject, 'B', 60).replaceAll(' ', '\r\n ') } }
      : {}),
    'X-Correlation-Id': parts.correlationId,
    // No out-of-office reply is wanted from a person's mailbox (RFC 3834).
    'Auto-Submitted': 'auto-generated',
    ...(parts.unsubscribeUrl
      ? {
          'List-Unsubscribe': `<${parts.unsubscribeUrl}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          'List-Id': listIdOf(parts),
        }
      : {}),
  };
}
