import {
  CaptureTag,
  Drop,
  ForTag,
  Liquid,
  UndefinedVariableError,
  type Arguments,
  type Context,
  type Template,
} from 'liquidjs';
import type {
  PartMode,
  PartSource,
  RenderFailureReason,
  RenderScope,
  VariableUse,
} from '../../vocabulary/rendering/render-job.js';

/**
 * Liquid as messaging offers it. This file runs inside the renderer's own process and, in tests, straight from source:
 * it may import packages, and nothing of the application but types and what runs beside it.
 */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const { addDateFilters, writeDatesIn } = (await import(
  `./liquid-dates${extension}`
)) as typeof import('./liquid-dates.js');

const OUTPUT_BYTES = 512 * 1024;
/** Below the hard limits of the process, so that most hostile templates end in an error rather than in a kill. */
const SOFT_LIMITS = { parseLimit: 2_000_000, renderLimit: 400, memoryLimit: 8_000_000 };
/** How often a part is rendered that had to wait for the processor, on a busy machine, until its time was over. */
const ATTEMPTS = 2;
const CACHED_TEMPLATES = 300;
/** Of a part. More than that nobody reads a word about. */
const MOST_USES = 1_000;
const MOST_SEGMENTS = 8;
/** Files, layouts and literal blocks have no place in a message; what would bypass escaping neither. */
const REFUSED_TAGS = ['include', 'render', 'layout', 'block', 'raw'];
const REFUSED_FILTERS = ['raw'];
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A failure with the part it happened in; its text is meant for the template's author. */
export class LiquidFailure extends Error {
  readonly reason: RenderFailureReason;

  constructor(reason: RenderFailureReason) {
    super(reason.detail);
    this.reason = reason;
  }
}

/** A text reads the fields of a contact that are withheld from it. */
class ContactWithheld extends Error {}

/** HTML that has passed the escaping once and must not pass it again; compared as the text that it is. */
class SafeHtml extends Drop {
  readonly #html: string;

  constructor(html: string) {
    super();
    this.#html = html;
  }

  override valueOf(): string {
    return this.#html;
  }

  override toString(): string {
    return this.#html;
  }
}

/** A captured block of an HTML part holds HTML already: putting it out again must not escape it twice. */
class HtmlCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    yield* super.render(context);
    const scope = context.bottom() as Record<string, unknown>;
    scope[this.variable] = new SafeHtml(String(scope[this.variable]));
  }
}

/** `offset: continue` is a word of the loop's own, not a name that is read. */
class LoopTag extends ForTag {
  override *arguments(): Arguments {
    for (const argument of super.arguments()) {
      const isWord = 'getText' in argument && argument.getText() === 'continue';
      if (!isWord) yield argument;
    }
  }
}

const meter = { bytes: 0 };

function metered(text: string): string {
  meter.bytes += text.length;
  if (meter.bytes > OUTPUT_BYTES) throw new Error('output limit exceeded');
  return text;
}

function plain(given: unknown): string {
  // `nil`, `empty` and `blank` are objects of the engine's own.
  const value: unknown = given instanceof Drop ? given.valueOf() : given;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plain).join('');
  return typeof value === 'object' ? JSON.stringify(value) : (value as number | boolean).toString();
}

function escapeHtml(value: unknown): string {
  if (value instanceof SafeHtml) return value.toString();
  return plain(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

function engineFor(mode: PartMode): Liquid {
  const outputEscape = (value: unknown): string =>
    metered(mode === 'html' ? escapeHtml(value) : plain(value));
  const engine = new Liquid({
    ...SOFT_LIMITS,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    timezoneOffset: 0,
    locale: 'en-US',
    templates: {},
    outputEscape,
  });
  for (const tag of REFUSED_TAGS) delete engine.tags[tag];
  for (const filter of REFUSED_FILTERS) delete engine.filters[filter];
  engine.registerTag('for', LoopTag);
  addDateFilters(engine);
  if (mode === 'html') addHtmlFilters(engine);
  return engine;
}

function addHtmlFilters(engine: Liquid): void {
  engine.registerTag('capture', HtmlCaptureTag);
  engine.registerFilter(
    'newline_to_br',
    (value: unknown) => new SafeHtml(escapeHtml(value).replace(/\r?\n/g, '<br>\n')),
  );
  // Every value is escaped on its way out: asking for it by name must not do it twice.
  for (const name of ['escape', 'xml_escape']) {
    engine.registerFilter(name, (value: unknown) =>
      value instanceof SafeHtml ? value : new SafeHtml(escapeHtml(value)),
    );
  }
  const byDefault = engine.filters['default'];
  if (typeof byDefault !== 'function') throw new TypeError('Liquid has no filter default');
  engine.registerFilter('default', function (value: unknown, ...given: unknown[]) {
    // What was captured stays HTML where there is something in it.
    return value instanceof SafeHtml && value.toString() !== ''
      ? value
      : (byDefault.call(this, value, ...given) as unknown);
  });
  engine.registerFilter('escape_once', (value: unknown) => new SafeHtml(escapeOnce(value)));
}

/** The references that escaping makes, as the characters that they stand for. */
const REFERENCES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
};

/** Escapes a text that may be escaped already, so that it is so once. */
function escapeOnce(value: unknown): string {
  if (value instanceof SafeHtml) return value.toString();
  return escapeHtml(plain(value).replace(/&(?:amp|lt|gt|quot|#34|#39);/g, (one) => REFERENCES[one] ?? one));
}

const engines: Record<PartMode, Liquid> = {
  html: engineFor('html'),
  text: engineFor('text'),
  line: engineFor('line'),
};
const parsed = new Map<string, Template[]>();

/** Parses without rendering. @throws LiquidFailure `template_invalid` */
export function checkParts(parts: readonly PartSource[]): Record<string, string> {
  for (const part of parts) parse(part);
  return {};
}

/** What the parts read of their scope, each path once per part; names that a part gives itself are not among them. */
export function variablesOf(parts: readonly PartSource[]): VariableUse[] {
  return parts.flatMap((part) => {
    const paths = engines[part.mode].globalVariableSegmentsSync(parse(part), { partials: false });
    return paths.slice(0, MOST_USES).map((path) => ({ part: part.name, path: plainSegments(path) }));
  });
}

/** Up to the first place of a list or computed name: what comes behind it is no field of ours. */
function plainSegments(path: readonly unknown[]): string[] {
  const end = path.findIndex((segment) => typeof segment !== 'string');
  return (end === -1 ? path : path.slice(0, end)).map(String).slice(0, MOST_SEGMENTS);
}

/** Renders all parts of one message. @throws LiquidFailure naming the part */
export function renderParts(
  parts: readonly PartSource[],
  scope: RenderScope,
  strict: boolean,
): Record<string, string> {
  meter.bytes = 0;
  const { dates, ...variables } = scope;
  writeDatesIn(dates);
  const rendered: Record<string, string> = {};
  let size = 0;
  for (const part of parts) {
    const text = renderPart(part, variables, strict);
    size += Buffer.byteLength(text);
    if (size > OUTPUT_BYTES) throw limitExceeded(part.name, 'The message is larger than 512 KiB.');
    rendered[part.name] = text;
  }
  return rendered;
}

function renderPart(part: PartSource, scope: RenderScope, strict: boolean): string {
  const templates = parse(part);
  const { bytes } = meter;
  for (let attempt = 1; ; attempt += 1) {
    const before = process.cpuUsage();
    try {
      const text = String(
        engines[part.mode].renderSync(templates, readable(scope), { strictVariables: strict }),
      );
      // A header field is one line; whatever a value brings along must not begin another (RFC 5322 §2.2).
      return part.mode === 'line' ? text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() : text;
    } catch (error) {
      if (attempt === ATTEMPTS || !waitedForProcessor(error, before)) throw renderFailure(part.name, error);
      meter.bytes = bytes;
    }
  }
}

/** Fails a text that comes to a withheld contact by whatever name, also by one that it makes while it is rendered. */
function readable({ contact, ...others }: RenderScope): object {
  if (contact !== null) return { contact, ...others };
  return Object.defineProperty(others, 'contact', {
    enumerable: true,
    get: () => {
      throw new ContactWithheld('The fields of the contact may not be read.');
    },
  });
}

/** Whether Liquid's limit, which goes by the clock on the wall, ended what had not worked for half of it. */
function waitedForProcessor(error: unknown, before: NodeJS.CpuUsage): boolean {
  const { user, system } = process.cpuUsage(before);
  return (
    messageOf(error).includes('render limit exceeded') &&
    (user + system) / 1_000 < SOFT_LIMITS.renderLimit / 2
  );
}

function parse(part: PartSource): Template[] {
  const key = `${part.mode}\n${part.source}`;
  const known = parsed.get(key);
  if (known) return known;
  try {
    const templates = engines[part.mode].parse(part.source);
    if (parsed.size >= CACHED_TEMPLATES) parsed.clear();
    parsed.set(key, templates);
    return templates;
  } catch (error) {
    const detail = messageOf(error);
    if (detail.includes('limit exceeded')) throw limitExceeded(part.name, detail);
    throw new LiquidFailure({ code: 'template_invalid', part: part.name, detail });
  }
}

function renderFailure(part: string, error: unknown): LiquidFailure {
  const detail = messageOf(error);
  if (detail.includes('limit exceeded')) return limitExceeded(part, detail);
  const origin = originOf(error);
  if (origin instanceof ContactWithheld) return new LiquidFailure({ code: 'not_permitted', part, detail });
  const undefinedVariable = origin instanceof UndefinedVariableError;
  return new LiquidFailure({
    code: 'render_failed',
    part,
    detail: undefinedVariable ? detail : `The template could not be rendered: ${detail}`,
  });
}

function limitExceeded(part: string, detail: string): LiquidFailure {
  return new LiquidFailure({ code: 'render_limit_exceeded', part, detail });
}

function originOf(error: unknown): unknown {
  const origin = (error as { originalError?: unknown }).originalError;
  return origin === undefined ? error : originOf(origin);
}

/** The first line only: the rest of a liquid error is an excerpt of the source and a stack. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
}
