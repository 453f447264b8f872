import { canonicalLocale } from '@customer-platform/http';
import { z } from 'zod';
import type { Channel } from '../addresses/channel.js';
import type { PartMode, PartSource } from '../rendering/render-job.js';
import { refuse } from '../shapes/refuse.js';

/** The texts of one message in one language, as an author writes them. */
export type LocaleParts = Readonly<Record<string, unknown>>;

/** Characters of a part, with all that it renders. */
export const MAX_SOURCE = 256 * 1024;
/** What a template is: one that is sent, a frame around others, or a piece of them. */
export const TEMPLATE_KINDS = ['message', 'layout', 'partial'] as const;
export type TemplateKind = (typeof TEMPLATE_KINDS)[number];
const MAX_LOCALES = 50;
/** Characters of an SMS, as its source and as it leaves. */
export const LONGEST_SMS = 1_600;

const line = z.string().min(1).max(500);
const source = z.string().min(1).max(MAX_SOURCE);

/** What fills the provider's own template, by place or by name. */
const placed = z.array(z.string().min(1).max(2_000)).max(50);
const named = z
  .record(
    z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,59}$/, 'Expected a name of lower-case letters, digits and underscores'),
    z.string().min(1).max(2_000),
  )
  .refine((variables) => Object.keys(variables).length <= 50, refuse('too_long', 'At most 50 variables'));

/** What a message of each channel is made of (messaging.md §4). */
export const partsOfChannel = {
  email: z
    .strictObject({
      subject: line,
      html: source.optional(),
      mjml: source.optional(),
      text: source.optional(),
    })
    .refine(({ html, mjml, text }) => [html, mjml, text].some((part) => part !== undefined), {
      path: ['html'],
      ...refuse('required', '`html`, `mjml` or `text` is required'),
    })
    .refine(({ html, mjml }) => html === undefined || mjml === undefined, {
      path: ['mjml'],
      ...refuse('not_allowed', '`mjml` cannot stand beside `html`'),
    }),
  sms: z.strictObject({ text: z.string().min(1).max(LONGEST_SMS) }),
  push: z.strictObject({
    title: line,
    body: z.string().min(1).max(4_000),
    url: z.string().max(2_000).optional(),
  }),
  in_app: z.strictObject({
    title: line,
    body: z.string().min(1).max(10_000),
    url: z.string().max(2_000).optional(),
  }),
  whatsapp: z
    .strictObject({
      text: z.string().min(1).max(4_096).optional(),
      provider_template: z
        .strictObject({
          name: line,
          language: z.string().min(2).max(20),
          variables: z.union([placed, named]).optional(),
        })
        .optional(),
    })
    .refine(({ text, provider_template: given }) => (text === undefined) !== (given === undefined), {
      path: ['text'],
      ...refuse('required', 'Either `text` or `provider_template` is required'),
    }),
} satisfies Record<Channel, z.ZodType>;

/** What layouts and partials of a channel are made of; a header has none. */
const fragmentsOfChannel = {
  email: z
    .strictObject({ html: source.optional(), mjml: source.optional(), text: source.optional() })
    .refine((parts) => Object.values(parts).some((part) => part !== undefined), {
      path: ['html'],
      ...refuse('required', '`html`, `mjml` or `text` is required'),
    }),
  sms: z.strictObject({ text: z.string().min(1).max(LONGEST_SMS) }),
  push: z.strictObject({ body: z.string().min(1).max(4_000) }),
  in_app: z.strictObject({ body: z.string().min(1).max(10_000) }),
  whatsapp: z.strictObject({ text: z.string().min(1).max(4_096) }),
} satisfies Record<Channel, z.ZodType>;

const VARIABLE_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;

/** One value a template expects in `data`. */
export interface TemplateVariable {
  readonly type: (typeof VARIABLE_TYPES)[number];
  readonly required: boolean;
  readonly default?: unknown;
}

const variable = z
  .strictObject({
    type: z.enum(VARIABLE_TYPES),
    required: z.boolean().default(false),
    default: z.unknown().optional(),
  })
  .refine(
    (given) => given.default === undefined || given.default === null || isOfType(given.default, given.type),
    {
      path: ['default'],
      ...refuse('wrong_type', 'The default is not of the type'),
    },
  );

const localeName = z
  .string()
  .refine(
    (text) => canonicalLocale(text) !== undefined,
    refuse('invalid_format', 'Expected a locale such as es or es-CL'),
  );

/** The versioned part of a template of one channel. */
export function templateContent(channel: Channel, kind: TemplateKind = 'message') {
  const parts = kind === 'message' ? partsOfChannel[channel] : fragmentsOfChannel[channel];
  return z
    .object({
      default_locale: localeName,
      locales: z
        .record(localeName, parts)
        .refine(
          (locales) => Object.keys(locales).length <= MAX_LOCALES,
          refuse('too_long', 'At most 50 locales'),
        ),
      variables: z
        .record(
          z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'Expected a name of letters, digits and underscores'),
          variable,
        )
        .refine(
          (variables) => Object.keys(variables).length <= 100,
          refuse('too_long', 'At most 100 variables'),
        ),
      strict: z.boolean(),
      layout: z.string().min(1).max(120).nullable(),
    })
    .refine(({ layout }) => layout === null || kind === 'message', {
      path: ['layout'],
      ...refuse('not_allowed', 'A layout is of messages alone'),
    })
    .refine(({ variables }) => kind === 'message' || Object.keys(variables).length === 0, {
      path: ['variables'],
      ...refuse('not_allowed', 'What `data` must hold is said by the message'),
    })
    .refine((content) => Object.hasOwn(content.locales, content.default_locale), {
      path: ['default_locale'],
      ...refuse('invalid_enum', 'The default locale must be one of `locales`'),
    });
}

/** The versioned part of a template, checked. */
export interface TemplateContent {
  readonly default_locale: string;
  readonly locales: Readonly<Record<string, LocaleParts>>;
  readonly variables: Readonly<Record<string, TemplateVariable>>;
  readonly strict: boolean;
  /** The name of the layout around it. */
  readonly layout: string | null;
}

const MODES: Readonly<Record<string, PartMode>> = {
  subject: 'line',
  title: 'line',
  url: 'line',
  html: 'html',
  mjml: 'html',
};

/** The liquid sources among the parts of a locale. */
export function sourcesOf(parts: LocaleParts): PartSource[] {
  return Object.entries(parts).flatMap(([name, text]): PartSource[] => {
    if (typeof text === 'string') return [{ name, mode: MODES[name] ?? 'text', source: text }];
    // The provider's own template: each of its fields is a line.
    return linesOf(name, text);
  });
}

function linesOf(name: string, given: unknown): PartSource[] {
  if (typeof given === 'string') return [{ name, mode: 'line', source: given }];
  return Object.entries(given ?? {}).flatMap(([field, inner]) => linesOf(`${name}.${field}`, inner));
}

/** The locale a message is in: the first wish there is a text for, each also without its region; else the default. */
export function chooseLocale(
  available: readonly string[],
  wishes: readonly (string | null | undefined)[],
  fallback: string,
): string {
  for (const wish of wishes) {
    for (const name of waysOf(wish)) {
      const found = available.find((locale) => locale.toLowerCase() === name.toLowerCase());
      if (found !== undefined) return found;
    }
  }
  return fallback;
}

/** A wish as it is, and cut: `es-CL`, `es`. */
export function waysOf(wish: string | null | undefined): string[] {
  const ways: string[] = [];
  for (let name = wish ?? ''; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('-'))))
    ways.push(name);
  return ways;
}

/** Whether a value is of a variable's type. */
export function isOfType(value: unknown, type: TemplateVariable['type']): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}
