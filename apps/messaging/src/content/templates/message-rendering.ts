import { Injectable } from '@nestjs/common';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { UNKNOWN_PROFILE, type ContactProfile } from '../../vocabulary/contacts/contact.js';
import type { PartSource } from '../../vocabulary/rendering/render-job.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import { Renderer, type RenderPurpose } from '../rendering/renderer.js';
import { chooseLocale, LONGEST_SMS } from '../../vocabulary/templates/template-content.js';
import { completeData } from '../../vocabulary/templates/template-data.js';
import type { TemplateVersion } from './template-versions.js';

/** A document says its language and title at its beginning. */
const HEAD_CHARACTERS = 1_000;

/** What one message is rendered from. */
interface MessageInput {
  /** Whose turn its rendering takes. */
  readonly organizationId: string;
  /** A version of a template, or the compiled parts of a send's own content. */
  readonly template: TemplateVersion | readonly PartSource[];
  readonly channel: Channel;
  readonly data: Readonly<Record<string, unknown>>;
  readonly locale: string | null;
  readonly contact: ContactProfile | undefined;
  /** The text may not read the contact; it has its language and zone all the same. */
  readonly withholdsContact: boolean;
  readonly event: Record<string, unknown> | null;
  readonly unsubscribeUrl: string | null;
  readonly purpose: RenderPurpose;
}

/** A message in one language, every byte of it final. */
export interface RenderedMessage {
  readonly locale: string | null;
  readonly parts: Readonly<Record<string, string>>;
  /** What the parts were rendered from. */
  readonly sources: readonly PartSource[];
}

/** The one way from a template to a message: previews and hand-offs call it alike, so that they show the same bytes. */
@Injectable()
export class MessageRendering {
  constructor(private readonly renderer: Renderer) {}

  /** @throws RenderFailure */
  async render(input: MessageInput): Promise<RenderedMessage> {
    const contact = input.contact ?? UNKNOWN_PROFILE;
    const { parts, strict, data, locale } = choose(input, contact);
    const scope = {
      data,
      contact: input.withholdsContact ? null : { ...contact },
      event: input.event,
      unsubscribe_url: input.unsubscribeUrl,
      dates: { locale, timezone: contact.timezone },
    };
    const rendered = await this.renderer.render(input.organizationId, parts, scope, strict, input.purpose);
    refuseTooLong(input.channel, rendered);
    return { locale, parts: storable(named(rendered, locale)), sources: parts };
  }
}

/** An HTML document that says no language or title of its own, as compiled MJML, has the message's. */
function named(parts: Readonly<Record<string, string>>, locale: string | null): Record<string, string> {
  const { html, subject = '' } = parts;
  if (html === undefined) return { ...parts };
  const head = html.slice(0, HEAD_CHARACTERS);
  // As functions: `$` in a subject means nothing.
  const said = head
    .replace(/(<html [^>]*?\blang=")(?:und)?"/i, (whole, before: string) =>
      locale === null ? whole : `${before}${escaped(locale)}"`,
    )
    .replace(/<title>\s*<\/title>/i, () => `<title>${escaped(subject)}</title>`);
  return { ...parts, html: said + html.slice(HEAD_CHARACTERS) };
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A template can make of good values what no database, mail or JSON carries: `{{ '%00' | url_decode }}`. */
function storable(parts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parts).map(([name, text]) => [name, text.toWellFormed().replaceAll('\0', '\uFFFD')]),
  );
}

/** What values make of a source can be longer than the source may be: no SMS is. */
function refuseTooLong(channel: Channel, { text = '' }: Readonly<Record<string, string>>): void {
  if (channel !== 'sms' || text.length <= LONGEST_SMS) return;
  const detail = `The text is ${text.length} characters long; an SMS has at most ${LONGEST_SMS}.`;
  throw new RenderFailure({ code: 'render_limit_exceeded', part: 'text', detail });
}

function choose(input: MessageInput, contact: ContactProfile) {
  const { template, data: given } = input;
  if (!('templateId' in template))
    return { parts: template, strict: true, data: { ...given }, locale: input.locale ?? contact.locale };
  const { data, errors } = completeData(template.variables, given);
  const [error] = errors;
  if (error) throw new RenderFailure({ code: 'render_failed', part: null, detail: error.detail });
  const locale = chooseLocale(
    Object.keys(template.parts),
    [input.locale, contact.locale],
    template.defaultLocale,
  );
  return { parts: template.parts[locale] ?? [], strict: template.strict, data, locale };
}
