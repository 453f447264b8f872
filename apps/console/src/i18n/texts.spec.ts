import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import compile from 'icu-minify/compile';
import { IntlMessageFormat } from 'intl-messageformat';
import formatCompiled from 'use-intl/format-message/format-only';
import { compiledTexts, type WrittenTexts } from './compiled-texts.ts';

const SOURCES = resolve(import.meta.dirname, '..');

function readTexts(path: string): WrittenTexts {
  return JSON.parse(readFileSync(join(SOURCES, path), 'utf8')) as WrittenTexts;
}

/** `a.b` → the text, for all of them. */
function flat(texts: WrittenTexts, above = ''): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([name, text]) =>
      typeof text === 'string' ? [[above + name, text] as const] : [...flat(text, `${above}${name}.`)],
    ),
  );
}

/** What a message is given: `{count, plural, …}` and `{name}` need `count` and `name`. */
function given(text: string): string[] {
  let depth = 0;
  const found = new Set<string>();
  for (const [at, character] of [...text].entries()) {
    // Inside a plural stand its cases, whose own braces hold text again.
    if (character === '{' && depth++ % 2 === 0) found.add(/^\{\s*(\w+)/.exec(text.slice(at))?.[1] ?? '');
    if (character === '}') depth -= 1;
  }
  return [...found].sort();
}

const folders = globSync('*/messages.en.json', { cwd: SOURCES }).map((path) => dirname(path));

describe.each(folders)('the texts of %s', (folder) => {
  const english = flat(readTexts(`${folder}/messages.en.json`));
  const spanish = flat(readTexts(`${folder}/messages.es.json`));

  it('are there in both languages, and none is empty', () => {
    expect([...spanish.keys()].sort()).toEqual([...english.keys()].sort());
    expect([...english.values(), ...spanish.values()].filter((text) => text.trim() === '')).toEqual([]);
  });

  it('are given the same in both', () => {
    for (const [name, text] of english)
      expect([name, given(spanish.get(name) ?? '')]).toEqual([name, given(text)]);
  });

  it.each([
    ['es-CL', spanish],
    ['en', english],
  ])('say compiled what they say as they are written, in %s', (locale, texts) => {
    for (const [name, text] of texts)
      for (const number of [0, 1, 2, 1_234_567, -3]) {
        const values = Object.fromEntries(given(text).map((value) => [value, valueFor(text, value, number)]));
        const tags = { strong: (parts: unknown) => `*${String(parts)}*` };
        const plain = new IntlMessageFormat(text, locale).format<string>({ ...values, ...tags });
        const said = Array.isArray(plain) ? plain.join('') : plain;
        expect([name, filled(text, locale, { ...values, ...tags })]).toEqual([name, said]);
      }
  });
});

/** A number where the text has one to count or to write, else a word. */
function valueFor(text: string, name: string, number: number): number | string {
  return new RegExp(`\\{${name}, ?(?:plural|number)`).test(text) ? number : `${name}!`;
}

function filled(text: string, locale: string, values: Record<string, unknown>): unknown {
  const formatters = {
    getNumberFormat: (...given: ConstructorParameters<typeof Intl.NumberFormat>) =>
      new Intl.NumberFormat(...given),
    getPluralRules: (...given: ConstructorParameters<typeof Intl.PluralRules>) =>
      new Intl.PluralRules(...given),
  };
  const options = { locale, formatters, cache: {}, timeZone: 'UTC' } as unknown;
  type Arguments = Parameters<typeof formatCompiled>;
  const answer = formatCompiled('text', compile(text), values as Arguments[2], options as Arguments[3]);
  return Array.isArray(answer) ? answer.join('') : answer;
}

describe('a text that is no ICU message', () => {
  it('ends the build', () => {
    expect(() => compiledTexts({ page: { title: 'All {count, plural, one {page}' } })).toThrow();
  });
});

describe('a file that shows texts', () => {
  it('names their folder where it asks for them, by which the build brings them', () => {
    const calls = globSync('**/*.{ts,tsx}', { cwd: SOURCES, exclude: ['**/*.spec.ts'] }).flatMap((path) =>
      [...readFileSync(join(SOURCES, path), 'utf8').matchAll(/\buseTranslations\((.*?)\)/g)].map(
        ([, asked = '']) => ({ path, asked }),
      ),
    );
    expect(calls.length).toBeGreaterThan(100);
    const known = new Set(folders.map((folder) => `'${folder}'`));
    expect(calls.filter(({ asked }) => !known.has(asked))).toEqual([]);
  });
});
