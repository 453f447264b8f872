import { isComplaint } from '../providers/feedback-types.js';
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

/** Of the destination itself, as at the hand-off (RFC 3463: mailbox, system, syntax, ambiguous, moved, none taken). */
const ADDRESS_AT_FAULT = /^5\.1\.([12346]|10)(?!\d)/;

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
  return status ? deliveryOf(status) : { kind: 'other' };
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
function deliveryOf(status: Attachment): ReturnedMail {
  const fields = fieldsOf(textOf(status));
  const action = fields.get('action')?.[0]?.toLowerCase();
  switch (action) {
    case 'failed':
      return {
        kind: 'bounced',
        type: ADDRESS_AT_FAULT.test(fields.get('status')?.[0] ?? '') ? 'hard' : 'soft',
      };
    case 'delayed':
      return { kind: 'delayed' };
    case 'delivered':
      return { kind: 'delivered' };
    default:
      return { kind: 'other' };
  }
}

function complaintOf(feedback: Attachment, attachments: readonly Attachment[]): ReturnedMail {
  const fields = fieldsOf(textOf(feedback));
  if (!isComplaint(fields.get('feedback-type')?.[0] ?? '')) return { kind: 'other' };
  const enclosed = attachments
    .filter(({ mimeType }) => ['message/rfc822', 'text/rfc822-headers'].includes(mimeType))
    .flatMap((one) => fieldsOf(headOf(textOf(one))).get('return-path') ?? []);
  const returnPaths = [...(fields.get('original-mail-from') ?? []), ...enclosed].map((text) =>
    text.replace(/^<|>$/g, ''),
  );
  return { kind: 'complaint', returnPaths: returnPaths.slice(0, MOST_PATHS) };
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
