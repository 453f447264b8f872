import { Problem } from '@customer-platform/problem-json';
import type { ImportOptions } from '../import-options.js';
import { FileIntake } from './file-intake.js';

const OPTIONS: ImportOptions = {
  format: 'csv',
  delimiter: ',',
  encoding: 'utf-8',
  mapping: { id: 'external_id' },
  match_by: 'external_id',
  on_existing: 'update',
  dry_run: false,
};

function refusalOf(
  chunks: Iterable<Buffer>,
  options: Partial<ImportOptions> = {},
): Pick<Problem, 'code' | 'message'> | undefined {
  const intake = new FileIntake({ ...OPTIONS, ...options });
  try {
    for (const chunk of chunks) intake.take(chunk);
    intake.finish();
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, message: error.message };
    throw error;
  }
  return undefined;
}

function* repeated(first: string, text: string, times: number): Generator<Buffer> {
  yield Buffer.from(first);
  const chunk = Buffer.from(text);
  for (let time = 0; time < times; time += 1) yield chunk;
}

describe('FileIntake', () => {
  it.each(['\n', '\r\n'])('counts blank lines that end with %j as it does rows', (end) => {
    const blanks = end.repeat(1_000);
    expect(refusalOf(repeated('id\n', blanks, 1_000))).toBeUndefined();
    expect(refusalOf(repeated('id\n', blanks, 1_001))).toEqual({
      code: 'body_too_large',
      message: 'The file has more than 1,000,000 rows, blank lines included.',
    });
    expect(refusalOf(repeated('id\na\n', blanks, 1_000))).toMatchObject({ code: 'body_too_large' });
  });

  it('refuses quotes that never end, and says on which line they begin', () => {
    expect(refusalOf([Buffer.from('id\na\n"b\nc\n')])).toEqual({
      code: 'malformed_request',
      message: 'The quotes of the record on line 3 never end.',
    });
  });

  it('refuses a record that no piece could pass over, as soon as it is that long', () => {
    const kilobyte = 'x'.repeat(1_024);
    expect(refusalOf(repeated('id\na\nb', kilobyte, 16 * 1_024 + 1))).toEqual({
      code: 'malformed_request',
      message: 'The record on line 3 is longer than 16 MiB, or its quotes never end.',
    });
    expect(refusalOf(repeated('id\na\nb', kilobyte, 16 * 1_024 - 1))).toBeUndefined();
  });

  it('refuses a mark of UTF-8 beside another encoding', () => {
    const file = [Buffer.from('\ufeffid\na\n')];
    expect(refusalOf(file)).toBeUndefined();
    expect(refusalOf(file, { encoding: 'windows-1252' })).toEqual({
      code: 'malformed_request',
      message: 'The file says that it is UTF-8, and `encoding` that it is windows-1252.',
    });
  });

  it('takes columns without a name for none, however many a spreadsheet left behind', () => {
    expect(refusalOf([Buffer.from(',,\nid,, \na,,\n')])).toBeUndefined();
  });

  it('takes a first line of JSON of which a value is wrong: that is the row’s matter', () => {
    const options = { format: 'jsonl', mapping: { id: 'external_id', n: null } } as const;
    const file = [Buffer.from('{"id":"a","n":12345678901234567000001}\n{"id":"b","n":1}\n')];
    expect(refusalOf(file, options)).toBeUndefined();
  });

  it('names no more columns than an answer does', () => {
    const header = Array.from({ length: 400 }, (_, at) => `c${at}`).join();
    const intake = new FileIntake(OPTIONS);
    try {
      intake.take(Buffer.from(`${header}\n`));
      throw new Error('It was taken');
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_mapping' });
      expect(error instanceof Problem && error.errors).toHaveLength(20);
    }
  });
});
