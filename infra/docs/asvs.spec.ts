import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = 'docs/security/asvs.md';
/** Requirements of the levels 1 and 2 by chapter, as the standard of 2025 has them. */
const BY_CHAPTER = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];

const page = readFileSync(join(ROOT, PAGE), 'utf8');
const rows = [
  ...page.matchAll(/^\| (\d+\.\d+\.\d+) +\| ([12]) +\| ([^|]+?) +\| (\w+) +\| ([^|]+?) +\|$/gmu),
].map(([, id = '', , , state = '', shown = '']) => ({ id, state, shown }));
const linksOf = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)]+)\)/gu)].map(([, link = '']) => link);

describe('the requirements of ASVS', () => {
  it('stand there once each', () => {
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const chapters = Map.groupBy(ids, (id) => Number(id.split('.')[0]));
    expect([...chapters].sort(([one], [other]) => one - other).map(([, own]) => own.length)).toEqual(
      BY_CHAPTER,
    );
  });

  it('are counted as they are', () => {
    const count = (state: string): number => rows.filter((row) => row.state === state).length;
    const states = ['met', 'part', 'not', 'none'].map(count);
    const [, counts = ''] = /^\| met .*\n\| -.*\n\|(.*)\|$/mu.exec(page) ?? [];
    expect(counts.split('|').map(Number)).toEqual([...states, rows.length]);
  });

  it('lead to what exists, or say why', () => {
    const links = rows.flatMap(({ id, shown }) => linksOf(shown).map((link) => [id, link] as const));
    const gone = links.filter(([, link]) => !existsSync(join(ROOT, dirname(PAGE), link)));
    expect(gone).toEqual([]);
    expect(rows.filter(({ shown }) => shown.trim() === '').map(({ id }) => id)).toEqual([]);
  });
});
