import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../../..');

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Words {
  codes: Record<string, string>;
  fields: Record<string, string>;
}

describe.each(['en', 'es'])('what the API refuses, in words of %s', (language) => {
  const words = JSON.parse(read(`apps/console/src/problems/messages.${language}.json`)) as Words;

  it('is said for every stable code, and for no other', () => {
    const published = JSON.parse(read('docs/published-codes.json')) as Record<string, number>;
    expect(Object.keys(words.codes).sort()).toEqual(Object.keys(published).sort());
  });

  it('is said for every code of a single field', () => {
    const [, listed = ''] =
      /Codes of single fields \(in `errors`\): (.*?) and those/.exec(read('docs/spec/contract.md')) ?? [];
    const fields = [...listed.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code);
    expect(fields).toContain('required');
    expect(Object.keys(words.fields).sort()).toEqual(fields.sort());
  });

  it('is whole sentences', () => {
    const all = Object.values({ ...words.codes, ...words.fields });
    expect(all.filter((text) => !/^[A-ZÁÉÍÓÚÑ].*\.$/.test(text))).toEqual([]);
  });
});
