import { deliveryFault } from '../../providers/delivery-fault.js';
import { isComplaint } from '../../providers/feedback-types.js';
import PostalMime, { type Attachment, type Email } from 'postal-mime';

/** What a returned mail says. */
export type ReturnedMail =
  /** A report on the delivery to its recipient (RFC 3464). */
  | { readonly kind: 'bounced'; readonly type: 'hard' | 'soft' }
  | { readonly kind: 'delayed' | 'delivered' }
  /** Of the recipient, by a feedback loop (RFC 5965): to which return paths the mail would have come back. */
  | { readonly kind: 'complaint'; readonly returnPaths: readonly string[] }
  /** An answer of a person or of their absence, a report of another kind: nothing to us. */
  | { readonly kind: 'other' };

/** The report stands before the mail that it encloses: what is behind is not looked at. */
const READ_BYTES = 256 * 1_024;
/** A parser's work goes by lines, and it holds the loop: empty ones would make it seconds. */
const READ_LINES = 4_000;
const REPORT_CHARACTERS = 64 * 1_024;
const MOST_FIELDS = 500;
const MOST_PATHS = 5;
const LIMITS = {
  forceRfc822Attachments: true,
  attachmentEncoding: 'utf8',
  maxNestingDepth: 8,
  maxHeadersSize: 64 * 1_024,
  maxRfc822NestingDepth: 0,
} as const;
/** With this field a mailbox provider that writes no RFC 5965 sends on what a person called junk. */
const COMPLAINED = 'x-hmxmroriginalrecipient';
/** How qmail, and Exim before it wrote RFC 3464, begin what they report; Mail.ru's is Exim's behind its own words. */
const PLAIN_REPORT =
  /^(?:Hi\. This is the [^\n]{1,80} program at |This message was created automatically by mail delivery software)/m;
/** From here on they show the mail itself. */
const COPY = /^(?:-{3,6} ?(?:Below this line is a copy|This is a copy)|Included is a copy) of /m;
const NOT_YET = /\bhas not yet been delivered\b|\bwill be retried\b/;

/** Reads a mail of anybody's. Never throws: what cannot be read says nothing. */
export async function readReturnedMail(raw: Buffer): Promise<ReturnedMail> {
  const mail = await parsed(beginningOf(raw));
  if (!mail) return { kind: 'other' };
  const { attachments } = mail;
  const feedback = attachments.find(({ mimeType }) => mimeType === 'message/feedback-report');
  if (feedback) return complaintOf(feedback, attachments);
  const status = attachments.find(({ mimeType }) =>
    ['message/delivery-status', 'message/global-delivery-status'].includes(mimeType),
  );
  if (status) return deliveryOf(status, mail.text);
  const complained = attachments.map(enclosedFields).filter((fields) => fields.has(COMPLAINED));
  if (complained.length > 0) return complaintBy(complained.flatMap(returnPathsOf));
  return plainReportOf(mail.text ?? '');
}

function beginningOf(raw: Buffer): Buffer {
  const beginning = raw.subarray(0, READ_BYTES);
  let at = -1;
  for (let line = 0; line < READ_LINES; line += 1) {
    at = beginning.indexOf('\n', at + 1);
    if (at === -1) return beginning;
  }
  return beginning.subarray(0, at);
}

async function parsed(raw: Buffer): Promise<Email | undefined> {
  try {
    return await PostalMime.parse(raw, LIMITS);
  } catch {
    // Too deep, too many headers, or no mail at all.
    return undefined;
  }
}

/** Each of our mails has one recipient: the first that the report speaks of. */
function deliveryOf(status: Attachment, explanation = ''): ReturnedMail {
  const fields = fieldsOf(textOf(status));
  // Comments stand behind it in brackets (RFC 5322 §3.2.2).
  switch (/^[a-z]+/i.exec(fields.get('action')?.[0] ?? '')?.[0].toLowerCase()) {
    case 'failed':
    case 'expired': {
      const text = fields.get('diagnostic-code')?.[0] ?? replyIn(explanation);
      return bouncedBy({ status: fields.get('status')?.[0], text });
    }
    case 'delayed':
      return { kind: 'delayed' };
    case 'delivered':
      return { kind: 'delivered' };
    default:
      return { kind: 'other' };
  }
}

/** What the server had said, where only the words for people tell it. */
function replyIn(explanation: string): string {
  return /\b5\d\d[ -][^\n]*/.exec(explanation.slice(0, REPORT_CHARACTERS))?.[0] ?? '';
}

function bouncedBy(refusal: Parameters<typeof deliveryFault>[0]): ReturnedMail {
  return { kind: 'bounced', type: deliveryFault(refusal) === 'recipient' ? 'hard' : 'soft' };
}

/** The words of servers that write no fields. To whom it came says which mail it is about. */
function plainReportOf(text: string): ReturnedMail {
  const beginning = text.slice(0, REPORT_CHARACTERS).replaceAll('\r', '');
  const report = beginning.slice(0, COPY.exec(beginning)?.index);
  const at = PLAIN_REPORT.exec(report)?.index;
  if (at === undefined) return { kind: 'other' };
  return NOT_YET.test(report) ? { kind: 'delayed' } : bouncedBy({ text: report.slice(at) });
}

function complaintOf(feedback: Attachment, attachments: readonly Attachment[]): ReturnedMail {
  const fields = fieldsOf(textOf(feedback));
  if (!isComplaint(fields.get('feedback-type')?.[0] ?? '')) return { kind: 'other' };
  const enclosed = attachments.flatMap((one) => returnPathsOf(enclosedFields(one)));
  return complaintBy([...(fields.get('original-mail-from') ?? []), ...enclosed]);
}

function complaintBy(paths: readonly string[]): ReturnedMail {
  const returnPaths = paths.map((text) => text.replace(/^<|>$/g, '')).slice(0, MOST_PATHS);
  return { kind: 'complaint', returnPaths };
}

/** Of a mail that is enclosed, or its fields alone. */
function enclosedFields(attachment: Attachment): Map<string, string[]> {
  const isMail = ['message/rfc822', 'text/rfc822-headers'].includes(attachment.mimeType);
  return fieldsOf(isMail ? headOf(textOf(attachment)) : '');
}

/** Where the mail would have come back: what the server that took it noted (RFC 5321 §4.4, 8601 §2.7.2). */
function returnPathsOf(fields: Map<string, string[]>): string[] {
  const results = fields.get('authentication-results') ?? [];
  const checked = results.flatMap((text) => /\bsmtp\.mailfrom=([^\s;]{1,320})/i.exec(text)?.[1] ?? []);
  return [...(fields.get('return-path') ?? []), ...checked];
}

function textOf({ content }: Attachment): string {
  const text = typeof content === 'string' ? content : Buffer.from(content as Uint8Array).toString('latin1');
  return text.slice(0, REPORT_CHARACTERS);
}

function headOf(text: string): string {
  return text.split(/\r?\n\r?\n/, 1)[0] ?? '';
}

/** Fields by their names in lower case, in all groups of lines, folded lines joined. */
function fieldsOf(text: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  let last: string[] | undefined;
  for (const line of text.split(/\r?\n/, MOST_FIELDS)) {
    if (/^[ \t]/.test(line) && last) {
      last.push(`${last.pop() ?? ''} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    last = fields.get(name) ?? [];
    fields.set(name, last);
    last.push(line.slice(colon + 1).trim());
  }
  return fields;
}
