import { createRequire } from 'node:module';
import type { RenderFailureReason } from '../../vocabulary/rendering/render-job.js';

/**
 * MJML as messaging offers it: the standard components, nothing read from files, nothing fetched, no script. Runs
 * inside a process of its own: it may import packages, and nothing of the application but types.
 */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const { replaceDelimited, setLiquidAside } = (await import(
  `./liquid-tokens${extension}`
)) as typeof import('./liquid-tokens.js');

/** What is used of MJML, which describes no types. */
interface Mjml {
  default(
    source: string,
    options: { validationLevel: 'soft'; ignoreIncludes: true; keepComments: false; fonts: object },
  ): Promise<{ html: string; errors: { line: number; message: string }[] }>;
  assignComponents(target: object, components: object): void;
  readonly components: object;
}
interface Validator {
  assignDependencies(target: object, dependencies: object): void;
  readonly dependencies: object;
}

const require = createRequire(import.meta.url);
const mjml = require('mjml-core') as Mjml;
const validator = require('mjml-validator') as Validator;
const preset = require('mjml-preset-core') as { components: object; dependencies: object };
mjml.assignComponents(mjml.components, preset.components);
validator.assignDependencies(validator.dependencies, preset.dependencies);

const OUTPUT_BYTES = 512 * 1024;
const MOST_ERRORS = 3;
/** What has no place in a template: texts of other files, and programs. */
const REFUSED = [
  { pattern: /<\s*mj-include\b/i, detail: '`mj-include` is not possible: there are no other files.' },
  { pattern: /<\s*\/?script\b/i, detail: 'A script has no place in a mail.' },
];

/** MJML that cannot be compiled, with a text for its author. */
export class MjmlFailure extends Error {
  readonly reason: RenderFailureReason;

  constructor(code: RenderFailureReason['code'], detail: string) {
    super(detail);
    this.reason = { code, part: 'mjml', detail };
  }
}

/** The HTML of an MJML document; liquid in it stays as it is. @throws MjmlFailure */
export async function compileMjml(source: string): Promise<string> {
  const given = withoutComments(source);
  for (const { pattern, detail } of REFUSED) {
    const at = given.search(pattern);
    if (at >= 0) throw invalid(`Line ${lineAt(given, at)}: ${detail}`);
  }
  const aside = setLiquidAside(given);
  const { html, errors } = await parsed(aside.markup);
  const wrong = errors.filter(({ message }) => !isLiquidColor(message, aside.tokens.length));
  if (wrong.length > 0) {
    throw invalid(
      wrong
        .slice(0, MOST_ERRORS)
        .map(({ line, message }) => aside.restore(`Line ${line}: ${message.trim()}.`))
        .join(' '),
    );
  }
  const [lost] = aside.missingIn(html);
  if (lost !== undefined) {
    throw invalid(
      `MJML leaves out \`${(aside.tokens[lost] ?? '').slice(0, 80)}\`: between components liquid stands in \`mj-raw\`.`,
    );
  }
  if (/<\s*script\b/i.test(html)) throw invalid('A script has no place in a mail.');
  const compiled = aside.restore(html);
  if (Buffer.byteLength(compiled) > OUTPUT_BYTES) {
    throw new MjmlFailure('render_limit_exceeded', 'The compiled HTML is larger than 512 KiB.');
  }
  return compiled;
}

async function parsed(
  markup: string,
): Promise<{ html: string; errors: { line: number; message: string }[] }> {
  try {
    // No font is fetched from elsewhere unless the author says so with `mj-font`.
    return await mjml.default(markup, {
      validationLevel: 'soft',
      ignoreIncludes: true,
      keepComments: false,
      fonts: {},
    });
  } catch (error) {
    if (error instanceof RangeError) throw invalid('The document is nested too deep.');
    throw invalid(
      (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '',
    );
  }
}

/** A colour can be anything when the message is rendered; what MJML calculates with cannot. */
function isLiquidColor(message: string, tokens: number): boolean {
  return tokens > 0 && /has invalid value: liquidq*\d+z for type Color/.test(message);
}

/** Comments go, their line breaks stay: what is in them is no part of the message. */
function withoutComments(source: string): string {
  return replaceDelimited(source, [{ open: '<!--', close: '-->', unless: '[if' }], (comment) =>
    '\n'.repeat(comment.split('\n').length - 1),
  );
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}

function invalid(detail: string): MjmlFailure {
  return new MjmlFailure('template_invalid', detail);
}
