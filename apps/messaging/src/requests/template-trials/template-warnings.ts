import type { ContactProfile } from '../../vocabulary/contacts/contact.js';
import { UNKNOWN_PROFILE } from '../../vocabulary/contacts/contact.js';
import type { MarkupFinding, MessageReview, VariableUse } from '../../vocabulary/rendering/render-job.js';
import type { RenderedMessage } from '../../content/templates/message-rendering.js';
import type { TemplateVersion } from '../../content/templates/template-versions.js';

/** What a warning is about. A code is never given another meaning. */
export const WARNING_CODES = [
  'html_clipped',
  'image_without_alt',
  'link_not_https',
  'missing_data',
  'not_reviewed',
  'sms_many_segments',
  'subject_empty',
  'subject_long',
  'unknown_variable',
  'unsubscribe_link_added',
] as const;

/** Something that nobody is refused for, and that the readers of a message may stumble over. */
export interface TemplateWarning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly detail: string;
  /** The part, and the line of its rendered text from 1 where one can be named; null: the message as a whole. */
  readonly where: { readonly part: string; readonly line: number | null } | null;
}

/** What a preview was rendered from, and what came of it. */
interface ReviewedMessage {
  readonly version: TemplateVersion;
  /** Completed by the defaults of the variables. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly contact: ContactProfile | undefined;
  readonly message: RenderedMessage;
  readonly segments: number | null;
  readonly unsubscribeUrl: string;
  /** Undefined: looking through it took more than a rendering may. */
  readonly review: MessageReview | undefined;
}

/** Bytes; Gmail cuts what is longer, with everything after it. */
const CLIPPED_BEYOND = 102_400;
/** Characters, as of a line of a mail's head (RFC 5322 §2.1.1). */
const LONGEST_SUBJECT = 78;
const FEW_SEGMENTS = 3;
/** Of one code; of the others the last warning says how many they are. */
const MOST_OF_A_CODE = 10;

/** The warnings about a message, by code. */
export function warningsOf(reviewed: ReviewedMessage): TemplateWarning[] {
  const { review } = reviewed;
  const warnings = [
    ...(reviewed.version.channel === 'email' ? mailWarnings(reviewed) : []),
    ...(review ? review.findings.map(ofFinding) : [unreviewed()]),
    ...(review ? ofVariables(reviewed, review.uses) : []),
    ...segmentWarnings(reviewed.segments),
  ];
  return WARNING_CODES.flatMap((code) => few(warnings.filter((warning) => warning.code === code)));
}

function few(same: readonly TemplateWarning[]): TemplateWarning[] {
  const [first] = same;
  const left = same.length - MOST_OF_A_CODE;
  if (!first || left <= 0) return [...same];
  const rest = { code: first.code, detail: `The same ${left} times more.`, where: null };
  return [...same.slice(0, MOST_OF_A_CODE), rest];
}

function mailWarnings({ message: { parts }, unsubscribeUrl }: ReviewedMessage): TemplateWarning[] {
  const { subject = '', html = '', text = '' } = parts;
  const warnings: TemplateWarning[] = [];
  const add = (code: TemplateWarning['code'], part: string | null, detail: string): void => {
    warnings.push({ code, detail, where: part === null ? null : { part, line: null } });
  };
  const bytes = Buffer.byteLength(html);
  if (bytes > CLIPPED_BEYOND) {
    add('html_clipped', 'html', `The HTML has ${bytes} bytes; Gmail cuts it after ${CLIPPED_BEYOND}.`);
  }
  if (subject.trim() === '') add('subject_empty', 'subject', 'The subject is empty.');
  const characters = [...subject].length;
  if (characters > LONGEST_SUBJECT) {
    const detail = `The subject has ${characters} characters; beyond ${LONGEST_SUBJECT} few readers see it.`;
    add('subject_long', 'subject', detail);
  }
  if (![html, text].some((part) => part.includes(unsubscribeUrl))) {
    const detail = 'Marketing mail from this template gets an unsubscribe link at its end.';
    add('unsubscribe_link_added', null, detail);
  }
  return warnings;
}

function ofFinding({ code, address, line }: MarkupFinding): TemplateWarning {
  const details = {
    image_without_alt: `The image \`${address}\` says nothing to who does not see it: it has no \`alt\`.`,
    link_not_https:
      address === '' ? 'A link leads nowhere.' : `The link \`${address}\` does not begin with https.`,
  };
  return { code, detail: details[code], where: { part: 'html', line } };
}

function unreviewed(): TemplateWarning {
  const detail = 'The message is too large, or nested too deep, to be looked through.';
  return { code: 'not_reviewed', detail, where: null };
}

function segmentWarnings(segments: number | null): TemplateWarning[] {
  if (segments === null || segments <= FEW_SEGMENTS) return [];
  const detail = `The text is sent, and paid, as ${segments} messages.`;
  return [{ code: 'sms_many_segments', detail, where: { part: 'text', line: null } }];
}

function ofVariables(reviewed: ReviewedMessage, uses: readonly VariableUse[]): TemplateWarning[] {
  const seen = new Set<string>();
  return uses.flatMap(({ part, path }) => {
    const name = path.join('.');
    const found = judge(reviewed, path);
    const key = `${part} ${name}`;
    if (!found || seen.has(key)) return [];
    seen.add(key);
    return [{ ...found, where: { part, line: null } }];
  });
}

/** Undefined: there is nothing to say about what a part reads. */
function judge(
  { version, data, contact }: ReviewedMessage,
  path: readonly string[],
): Pick<TemplateWarning, 'code' | 'detail'> | undefined {
  const [root = '', name] = path;
  const said = `\`${path.join('.').slice(0, 200)}\``;
  const unknown = (why: string) => ({ code: 'unknown_variable' as const, detail: `${said} ${why}` });
  switch (root) {
    case 'event':
    case 'unsubscribe_url':
      return undefined;
    case 'data':
      if (name === undefined) return undefined;
      if (!Object.hasOwn(data, name) && !Object.hasOwn(version.variables, name))
        return unknown('is neither declared in `variables` nor in the data.');
      return missing(data, path.slice(1), said);
    case 'contact':
      if (name === undefined) return undefined;
      if (!Object.hasOwn(UNKNOWN_PROFILE, name)) return unknown('is no field of a contact.');
      return contact && missing({ ...contact }, path.slice(1), said);
    default:
      return unknown('begins with none of `data`, `contact`, `event`, `unsubscribe_url`.');
  }
}

function missing(
  scope: Readonly<Record<string, unknown>>,
  path: readonly string[],
  said: string,
): Pick<TemplateWarning, 'code' | 'detail'> | undefined {
  let value: unknown = scope;
  for (const name of path) {
    // Of lists and texts Liquid knows more than their fields.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) break;
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (value === undefined && name === 'size') return undefined;
  }
  if (value !== undefined && value !== null) return undefined;
  return { code: 'missing_data', detail: `${said} has no value here.` };
}
