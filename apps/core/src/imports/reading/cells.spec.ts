import { Problem } from '@customer-platform/problem-json';
import type { ImportOptions } from '../import-options.js';
import { readCsv, readHeader, readJsonLine, readNames } from './cells.js';
import { RecordSplitter, type RawRecord } from './record-splitter.js';

const COMMA = { delimiter: ',', encoding: 'utf-8' } as const;
const OPTIONS: ImportOptions = {
  ...COMMA,
  format: 'csv',
  mapping: { id: 'external_id' },
  match_by: 'external_id',
  on_existing: 'update',
  dry_run: false,
};
/** As much as a record may have. */
const COMMAS = `x${','.repeat(1024 * 1024 - 2)}`;

function recordsOf(...lines: readonly string[]): RawRecord[] {
  const splitter = new RecordSplitter({ delimiter: 0x2c, most: 1024 * 1024 });
  return [...splitter.push(Buffer.from(lines.map((line) => `${line}\n`).join('')))];
}

describe('readHeader', () => {
  it('refuses more columns than can be mapped with one error', () => {
    for (const header of [COMMAS, 'a'.repeat(500).split('').concat('a').join()]) {
      const [record] = recordsOf(header);
      expect(record).toBeDefined();
      const read = (): unknown => record && readHeader(record, OPTIONS);
      expect(read).toThrow(Problem);
      try {
        read();
      } catch (error) {
        expect(error).toMatchObject({
          code: 'invalid_mapping',
          message: 'The file has more than 500 columns.',
        });
      }
    }
  });

  it('counts no delimiters within quotes', () => {
    const [record] = recordsOf(`id,"${','.repeat(600)}"`);
    expect(record && readHeader(record, OPTIONS)).toHaveLength(2);
  });
});

describe('readCsv', () => {
  it('makes no cells of a record of hardly anything but delimiters, and reads those beside it', () => {
    expect(readCsv(recordsOf('a,b', COMMAS, '"c,""","d"', 'e'), COMMA, 2)).toEqual([
      { cells: ['a', 'b'] },
      { fault: 'wrong_column_count' },
      { cells: ['c,"', 'd'] },
      { fault: 'wrong_column_count' },
    ]);
  });
});

describe('readJsonLine', () => {
  const lineOf = (text: string): RawRecord => {
    const bytes = Buffer.from(text);
    return { bytes, line: 1, next: { at: bytes.length, line: 2 }, unclosed: false };
  };

  it('says which number is beyond what a number holds, and knows the names of its line all the same', () => {
    const line = lineOf('{"email":"eva@example.com","a/b":90071992547409930001}');
    expect(readJsonLine(line, 'utf-8')).toEqual({ fault: 'out_of_range', name: 'a/b' });
    expect(readNames(line, 'utf-8')).toEqual(['email', 'a/b']);
  });

  it.each(['[]', '"a"', '{', 'null'])('knows no names of %s', (text) => {
    expect(readJsonLine(lineOf(text), 'utf-8')).toEqual({ fault: 'malformed_row' });
    expect(readNames(lineOf(text), 'utf-8')).toBeUndefined();
  });
});
