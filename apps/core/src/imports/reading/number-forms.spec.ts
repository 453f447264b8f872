import type { ImportOptions } from '../import-options.js';
import { formIn, NumberForms } from './number-forms.js';
import { RecordSplitter } from './record-splitter.js';

const OPTIONS: ImportOptions = {
  format: 'csv',
  delimiter: ';',
  encoding: 'utf-8',
  mapping: { id: 'external_id', n: 'attributes.n' },
  match_by: 'external_id',
  on_existing: 'update',
  dry_run: false,
};

function formOf(...cells: readonly string[]): unknown {
  const splitter = new RecordSplitter({ delimiter: 0x3b, most: 10_000 });
  const records = [...splitter.push(Buffer.from(cells.map((cell, at) => `p${at};${cell}\n`).join('')))];
  const forms = new NumberForms(OPTIONS, ['id', 'n']);
  // A piece at a time, as files come.
  for (const record of records) forms.look([record]);
  return forms.all?.['n'];
}

describe('NumberForms', () => {
  it.each([
    ['comma', ['12,5']],
    ['comma', ['7', '1.234', '1.234,50', 'n/a', '']],
    ['comma', ['1.234.567']],
    ['dot', ['1234.56', '5']],
    ['dot', ['1.234', '12.5']],
    ['dot', ['7', 'n/a']],
    ['unclear', ['12,5', '12.5']],
    ['unclear', ['1,234.50', '1.234,50']],
    ['unclear', ['1.234', '5.678']],
    ['unclear', ['1,234']],
  ])('finds %s of %j', (form, cells) => {
    expect(formOf(...cells)).toBe(form);
  });

  it('leaves to a comma between cells the dot, and knows nothing of files of before', () => {
    expect(new NumberForms({ ...OPTIONS, delimiter: ',' }, ['id', 'n']).all).toBeNull();
    expect(formIn({ ...OPTIONS, delimiter: ',' }, null, 'n')).toBe('dot');
    expect(formIn(OPTIONS, null, 'n')).toBe('unclear');
    expect(formIn(OPTIONS, { n: 'comma' }, 'n')).toBe('comma');
  });
});
