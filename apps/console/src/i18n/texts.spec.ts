import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const SOURCES = resolve(import.meta.dirname, '..');

type Texts = { [name: string]: string | Texts };

function readTexts(path: string): Texts {
  return JSON.parse(readFileSync(join(SOURCES, path), 'utf8')) as Texts;
}

/** `a.b` → the text, for all of them. */
function flat(texts: Texts, above = ''): Map<string, string> {
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
});
