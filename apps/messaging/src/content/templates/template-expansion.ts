import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { replaceLiquid } from '../rendering/liquid-tokens.js';
import type { PartSource } from '../../vocabulary/rendering/render-job.js';
import {
  chooseLocale,
  MAX_SOURCE,
  type LocaleParts,
  type TemplateContent,
  type TemplateKind,
} from '../../vocabulary/templates/template-content.js';
import { UsedTemplates, type TemplateUse, type UsableTemplate } from './used-templates.js';

/** Of all languages of a version, in characters: a short text may put in long ones many times. */
const MOST_EXPANDED = 2 * 1_024 * 1_024;

/** Different ones in one template. */
const MOST_USED = 20;
/** Partials within partials: a text that nobody finds any more is deeper. */
const DEEPEST = 5;
const RENDER = /^\{%-?\s*render\s+(?:'([^'{}%]{1,120})'|"([^"{}%]{1,120})")\s*-?%\}$/;
const PLACE = /^\{\{-?\s*content\s*-?\}\}$/;

/** Whose content is expanded; one that is not stored yet has no id. */
interface Own {
  readonly id: string | null;
  readonly kind: TemplateKind;
  readonly channel: Channel;
}

/** A content in which the texts of layouts and partials stand, and whose they are. */
interface ExpandedContent {
  readonly locales: Readonly<Record<string, LocaleParts>>;
  readonly uses: readonly TemplateUse[];
}

/**
 * Puts the texts of the organization's published layouts and partials where a content names them (messaging.md §4). It
 * is done once, when a version is made: the version holds all of its text, so that it is the same for ever, and
 * rendering knows neither layouts nor partials. Nothing can call itself: what is put in was published before.
 */
@Injectable()
export class TemplateExpansion {
  constructor(
    private readonly database: Database,
    private readonly used: UsedTemplates,
  ) {}

  /** @throws Problem `template_invalid` with the pointer of the part at fault */
  async expand(organizationId: string, own: Own, content: TemplateContent): Promise<ExpandedContent> {
    const names = namesIn(content);
    const { locales, layout } = content;
    if (own.kind === 'layout') demandPlaces(locales);
    if (names.length === 0) return { locales, uses: [] };
    if (names.length > MOST_USED)
      throw invalid('/locales', `More than ${String(MOST_USED)} layouts and partials are used.`);
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const usable = await this.used.usable(tx, own.channel, names);
      if (layout !== null && usable.get(layout)?.kind !== 'layout')
        throw invalid('/layout', `There is no published layout “${layout}” of this channel.`);
      const expanded: Record<string, LocaleParts> = {};
      for (const [locale, parts] of Object.entries(locales))
        expanded[locale] = await this.expandLocale(tx, usable, { locale, parts, layout });
      if (JSON.stringify(expanded).length > MOST_EXPANDED) {
        const detail = 'The languages with what they put in are more than 2 MiB together.';
        throw Problem.validation([{ pointer: '/locales', code: 'template_invalid', detail }]);
      }
      const uses = [...usable.values()].map(({ id, version }) => ({ id, version }));
      await this.demandNoCircle(tx, own, uses);
      return { locales: expanded, uses };
    });
  }

  private async expandLocale(
    tx: Transaction,
    usable: ReadonlyMap<string, UsableTemplate>,
    { locale, parts, layout }: { locale: string; parts: LocaleParts; layout: string | null },
  ): Promise<LocaleParts> {
    const texts = new Map<string, readonly PartSource[]>();
    for (const template of usable.values())
      texts.set(
        template.name,
        await this.used.parts(
          tx,
          template,
          chooseLocale(template.locales, [locale], template.default_locale),
        ),
      );
    const frame = layout === null ? undefined : (texts.get(layout) ?? []);
    return Object.fromEntries(
      Object.entries(parts).map(([name, text]) => {
        if (typeof text !== 'string') return [name, text];
        const at = { pointer: `/locales/${locale}/${name}`, part: name };
        const whole = withPartials(text, at, usable, texts);
        return [name, frame === undefined ? whole : within(whole, at, frame)];
      }),
    );
  }

  private async demandNoCircle(tx: Transaction, own: Own, uses: readonly TemplateUse[]): Promise<void> {
    const found = await this.used.within(tx, uses, DEEPEST);
    if (own.id !== null && found.has(own.id))
      throw invalid('/locales', 'It would be rendered within itself.');
    if (Math.max(0, ...found.values()) > DEEPEST)
      throw invalid('/locales', `Partials stand within one another more than ${String(DEEPEST)} deep.`);
  }
}

function namesIn({ locales, layout }: TemplateContent): string[] {
  const names = new Set<string>(layout === null ? [] : [layout]);
  for (const parts of Object.values(locales))
    for (const text of Object.values(parts))
      if (typeof text === 'string')
        replaceLiquid(text, (token) => {
          const name = partialOf(token);
          if (name !== undefined) names.add(name);
          return '';
        });
  return [...names];
}

function partialOf(token: string): string | undefined {
  const [, single, double] = RENDER.exec(token) ?? [];
  return single ?? double;
}

interface At {
  readonly pointer: string;
  readonly part: string;
}

function withPartials(
  text: string,
  { pointer, part }: At,
  usable: ReadonlyMap<string, UsableTemplate>,
  texts: ReadonlyMap<string, readonly PartSource[]>,
): string {
  let length = text.length;
  return replaceLiquid(text, (token) => {
    const name = partialOf(token);
    if (name === undefined) return token;
    if (usable.get(name)?.kind !== 'partial')
      throw invalid(pointer, `There is no published partial “${name}” of this channel.`);
    const source = texts.get(name)?.find((one) => one.name === part)?.source;
    if (source === undefined) throw invalid(pointer, `The partial “${name}” has no part \`${part}\`.`);
    // Before anything is put together: a small text can name a large one many times.
    length += source.length;
    if (length > MAX_SOURCE) throw tooLong(pointer);
    return trimmed(token, source);
  });
}

/** What a hyphen of the tag takes away around it, it takes away around the text as well. */
function trimmed(token: string, source: string): string {
  const before = token.startsWith('{%-') ? '{%- # %}' : '';
  const after = token.endsWith('-%}') ? '{% # -%}' : '';
  return `${before}${source}${after}`;
}

/** A header field has no frame, and a text has one where the layout has a text. */
function within(text: string, { pointer, part }: At, frame: readonly PartSource[]): string {
  if (part !== 'html' && part !== 'mjml' && part !== 'text' && part !== 'body') return text;
  const source = frame.find(({ name }) => name === part)?.source;
  if (source === undefined || placesIn(source) !== 1) {
    if (part === 'text') return text;
    throw invalid('/layout', `The layout has no part \`${part}\`.`);
  }
  if (source.length + text.length > MAX_SOURCE) throw tooLong(pointer);
  return replaceLiquid(source, (token) => (PLACE.test(token) ? text : token));
}

function placesIn(source: string): number {
  let count = 0;
  replaceLiquid(source, (token) => {
    if (PLACE.test(token)) count += 1;
    return token;
  });
  return count;
}

function demandPlaces(locales: TemplateContent['locales']): void {
  for (const [locale, parts] of Object.entries(locales))
    for (const [part, text] of Object.entries(parts))
      if (placesIn(String(text)) !== 1)
        throw invalid(
          `/locales/${locale}/${part}`,
          'A layout says once where the content goes: `{{ content }}`.',
        );
}

function tooLong(pointer: string): Problem {
  return invalid(pointer, `With what it renders it is longer than ${String(MAX_SOURCE / 1_024)} KiB.`);
}

function invalid(pointer: string, detail: string): Problem {
  return Problem.validation([{ pointer, code: 'template_invalid', detail }]);
}
