import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { WrittenTexts } from './compiled-texts.ts';

const SOURCES = resolve(import.meta.dirname, '..');
const GLOSSARY = resolve(SOURCES, '../../../docs/interface-words.md');

/** Names variables of templates, which are the same in every language. */
const NAMES = ['messages liquid'];
/** Names of the API inside of a text, such as `core.events.read` and `attributes.…`, and what a text is given. */
const CODE = /\w+(?:\.[\w…]+)+|\{\s*\w+\s*[,}]/g;

interface Text {
  place: string;
  en: string;
  es: string;
}

function textsIn(folder: string): Text[] {
  const read = (language: string): WrittenTexts =>
    JSON.parse(readFileSync(join(SOURCES, folder, `messages.${language}.json`), 'utf8')) as WrittenTexts;
  const flat = (en: WrittenTexts, es: WrittenTexts, above: string): Text[] =>
    Object.entries(en).flatMap(([name, text]) => {
      const other = es[name] ?? '';
      if (typeof text !== 'string') return flat(text, other as WrittenTexts, `${above}${name}.`);
      return [{ place: above + name, en: text, es: other as string }];
    });
  return flat(read('en'), read('es'), `${folder} `);
}

const texts = globSync('*/messages.en.json', { cwd: SOURCES }).flatMap((path) => textsIn(dirname(path)));

/** The rows of the table under a heading. */
function rowsUnder(heading: string): string[][] {
  const [, below = ''] = readFileSync(GLOSSARY, 'utf8').split(`## ${heading}\n`);
  const [table = ''] = below.split('\n## ');
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Finds any of the forms of a word, `a / b`, as a word of its own. */
function finds(forms: string): (text: string) => boolean {
  const any = forms.split('/').map((form) => form.trim().replaceAll(/[.*+?^$(){}|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?<![\p{L}\d_])(?:${any.join('|')})(?![\p{L}\d_])`, 'iu');
  return (text) => pattern.test(text.replaceAll(CODE, ' '));
}

describe('a term of the interface', () => {
  const terms = rowsUnder('Terms');

  it('has one word in each language', () => {
    expect(terms.length).toBeGreaterThan(40);
    const english = terms.flatMap(([forms = '']) => forms.split(' / '));
    expect(new Set(english).size).toBe(english.length);
  });

  it.each(terms.map(([english = '', spanish = '']) => [english, spanish]))(
    '%s is translated wherever it is used',
    (english, spanish) => {
      const [inEnglish, inSpanish] = [finds(english), finds(spanish)];
      expect(
        texts.filter(({ place, en, es }) => inEnglish(en) && !inSpanish(es) && !NAMES.includes(place)),
      ).toEqual([]);
      expect(texts.some(({ en }) => inEnglish(en))).toBe(true);
    },
  );
});

describe('a word that is not used', () => {
  it.each(rowsUnder('Not used').map(([language = '', word = '']) => [word, language] as const))(
    '%s stands in no text of %s',
    (word, language) => {
      const isUsed = finds(word);
      expect(texts.filter(({ en, es }) => isUsed(language === 'English' ? en : es))).toEqual([]);
    },
  );
});
