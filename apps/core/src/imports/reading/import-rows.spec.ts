import { MAX_ERRORS } from '@customer-platform/problem-json';
import type { ImportOptions } from '../import-options.js';
import { ImportRows } from './import-rows.js';
import { RecordSplitter } from './record-splitter.js';

const OPTIONS: ImportOptions = {
  format: 'jsonl',
  delimiter: ',',
  encoding: 'utf-8',
  mapping: { id: 'external_id' },
  match_by: 'external_id',
  on_existing: 'update',
  dry_run: false,
};

function read(line: unknown, mapping: Record<string, string> = {}) {
  const options = { ...OPTIONS, mapping: { ...OPTIONS.mapping, ...mapping } };
  const splitter = new RecordSplitter({ delimiter: null, most: 1024 * 1024 });
  const records = [...splitter.push(Buffer.from(`${JSON.stringify(line)}\n`))];
  return new ImportRows(options, Object.keys(options.mapping)).read(records);
}

describe('ImportRows', () => {
  it('tells of so many errors of a row as an answer does, and still reads whom it names', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`u${at}`, 1]));
    const [row] = await read({ ...unknown, id: 'a-1' });
    expect(row?.errors).toHaveLength(MAX_ERRORS);
    expect(row?.body.external_id).toBe('a-1');
  });

  it('has the same bound for columns of consents', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `purpose_${at}`);
    const [row] = await read(
      { id: 'a-1', ...Object.fromEntries(names.map((name) => [name, 'perhaps'])) },
      Object.fromEntries(names.map((name) => [name, `consents.custom.${name}`])),
    );
    expect(row?.errors).toHaveLength(MAX_ERRORS);
    expect(row?.errors[0]).toEqual({ column: 'purpose_0', code: 'invalid_enum', value: 'perhaps' });
  });

  it('takes cells of blanks for empty, and refuses what stands under no name', async () => {
    const options: ImportOptions = {
      ...OPTIONS,
      format: 'csv',
      mapping: { id: 'external_id', name: 'first_name' },
    };
    const splitter = new RecordSplitter({ delimiter: 0x2c, most: 1_000 });
    const records = [...splitter.push(Buffer.from('a-1, \u00a0,,\na-2,Eva, ,lost\n'))];
    const [blank, lost] = await new ImportRows(options, ['id', 'name', '', ' ']).read(records);
    expect(blank).toMatchObject({ body: { external_id: 'a-1' }, errors: [] });
    expect(blank?.body.first_name).toBeUndefined();
    expect(lost?.errors).toEqual([{ column: null, code: 'unknown_field', value: 'lost' }]);
  });

  it('names the column of a number beyond what a number holds', async () => {
    const splitter = new RecordSplitter({ delimiter: null, most: 1_000 });
    const records = [...splitter.push(Buffer.from('{"id":"a","n":90071992547409930001}\n'))];
    const [row] = await new ImportRows(OPTIONS, ['id']).read(records);
    expect(row?.errors).toEqual([{ column: 'n', code: 'out_of_range', value: null }]);
  });
});
