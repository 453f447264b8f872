import type { Schemas } from '@customer-platform/client';
import { PARTS, type Channel, type TemplateKind } from './vocabulary.ts';

export type Template = Schemas['TemplateDto'];

/** A layout or partial whose text stands in a version. */
export type TemplateUse = Schemas['TemplateUseDto'];

/** Parts by locale. */
type Locales = Record<string, Record<string, unknown>>;

/** A template as it is written in the form. */
export interface TemplateDraft {
  name: string;
  kind: TemplateKind;
  channel: Channel;
  /** By its name. */
  layout: string | null;
  default_locale: string;
  locales: Locales;
  strict: boolean;
}

/** What layouts and partials are made of: they have no headers. */
const FRAGMENT_PARTS: Record<Channel, readonly string[]> = {
  email: ['html', 'mjml', 'text'],
  sms: ['text'],
  push: ['body'],
  in_app: ['body'],
  whatsapp: ['text'],
};

/** Parts that others can be put into. */
export const BODIES = ['html', 'mjml', 'text', 'body'] as const;

/** How a layout says where the message goes. */
export const CONTENT_PLACE = '{{ content }}';

/** The parts that a locale of a template has, or may have. */
export function partNames(kind: TemplateKind, channel: Channel, parts: Record<string, unknown>): string[] {
  if (kind !== 'message') return [...FRAGMENT_PARTS[channel]];
  // A mail is of one format.
  return PARTS[channel].filter((part) => Object.hasOwn(parts, part) || (part !== 'html' && part !== 'mjml'));
}

/** Whether a part may be left out. */
export function isOptional(kind: TemplateKind, channel: Channel, part: string): boolean {
  return part === 'url' || (channel === 'email' && (part === 'text' || kind !== 'message'));
}

/** The parts that most write, nothing in them; of a layout the place that it cannot do without. */
export function emptyParts(kind: TemplateKind, channel: Channel): Record<string, unknown> {
  const text = kind === 'layout' ? CONTENT_PLACE : '';
  return Object.fromEntries(usualParts(kind, channel).map((part) => [part, text]));
}

function usualParts(kind: TemplateKind, channel: Channel): readonly string[] {
  if (channel !== 'email') return partNames(kind, channel, {}).filter((part) => part !== 'url');
  return kind === 'message' ? ['subject', 'html'] : ['html'];
}

/** The same draft of another kind or channel: its parts are others. */
export function draftAs(
  draft: TemplateDraft,
  to: Partial<Pick<TemplateDraft, 'kind' | 'channel'>>,
): TemplateDraft {
  const { kind, channel } = { ...draft, ...to };
  const locales = Object.fromEntries(
    Object.entries(draft.locales).map(([locale, before]) => [locale, partsAs(kind, channel, before)]),
  );
  return { ...draft, kind, channel, locales, layout: null };
}

function partsAs(
  kind: TemplateKind,
  channel: Channel,
  before: Record<string, unknown>,
): Record<string, unknown> {
  const names = partNames(kind, channel, before);
  const kept = Object.fromEntries(
    Object.entries(before).filter(
      ([part, text]) => names.includes(part) && text !== '' && text !== CONTENT_PLACE,
    ),
  );
  const parts = { ...emptyParts(kind, channel), ...kept };
  const has = (part: string): boolean => Object.hasOwn(kept, part);
  // A mail is of one format; a piece has any of its parts, and none of them empty.
  const isWithoutHtml = kind === 'message' ? has('mjml') : !has('html') && (has('mjml') || has('text'));
  if (!isWithoutHtml) return parts;
  const { html: _, ...others } = parts;
  return others;
}

export function newTemplate(kind: TemplateKind, channel: Channel, locale: string): TemplateDraft {
  const locales = { [locale]: emptyParts(kind, channel) };
  return {
    name: '',
    kind,
    channel,
    layout: null,
    default_locale: locale,
    locales,
    strict: true,
  };
}

export function draftFrom(template: Template): TemplateDraft {
  const { name, kind, channel, layout, default_locale, locales, strict } = template;
  return { name, kind, channel, layout, default_locale, locales, strict };
}

/** Its content as a JSON merge patch makes it of what is stored: what has gone is said as null. */
export function localesPatch(stored: Locales, written: Locales): Locales {
  const patch = Object.entries(written).map(([locale, parts]) => [
    locale,
    { ...nullsFor(stored[locale] ?? {}, parts), ...parts },
  ]);
  return { ...nullsFor(stored, written), ...Object.fromEntries(patch) } as Locales;
}

function nullsFor(before: object, after: object): Record<string, null> {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.fromEntries(gone.map((name) => [name, null]));
}

/** What puts a partial in; undefined where its name cannot be written so. */
export function renderTag(name: string): string | undefined {
  if (/[{}%]/.test(name)) return undefined;
  if (!name.includes("'")) return `{% render '${name}' %}`;
  return name.includes('"') ? undefined : `{% render "${name}" %}`;
}

/** The parts that any language of a template has. */
export function partsIn({ locales }: Pick<Template, 'locales'>): string[] {
  const names = Object.values(locales).flatMap((parts) => Object.keys(parts));
  return BODIES.filter((part) => names.includes(part));
}

/** Whether a version that is made now would hold another text of it. */
export function isOutdated({ version, published_version: published }: TemplateUse): boolean {
  return published !== null && published !== version;
}

/** Those that hold an older text of `usedId`, in the order in which each finds the others renewed. */
export function toRenew(users: readonly Template[], usedId: string): Template[] {
  const order = (template: Template): number => ORDER.indexOf(template.kind);
  return users
    .filter(({ uses }) => uses.some((use) => use.id === usedId && isOutdated(use)))
    .toSorted((one, other) => order(one) - order(other));
}

/** Whether there are such ones among those that were read, or may be among the others. */
export function mayHoldOlder(
  { items, hasMore }: { items: readonly Template[]; hasMore: boolean },
  usedId: string,
): boolean {
  return hasMore || toRenew(items, usedId).length > 0;
}

const ORDER: readonly TemplateKind[] = ['partial', 'layout', 'message'];

/** Whether what is newest is what is sent: a draft is of somebody who has not finished. */
export function isPublished({ version, published_version: published }: Template): boolean {
  return published === version;
}
