import { gzipSync } from 'node:zlib';
import { columnsOf, firstRecord, guessForm } from './file-header.ts';

const fileOf = (content: string | Uint8Array, name = 'contacts.csv'): File =>
  new File([content as BlobPart], name);

describe('the first record', () => {
  it('is taken apart as RFC 4180 has it', () => {
    expect(firstRecord('id,"first, ""or""\nlast",x\r\n1,2,3\n', ',')).toEqual([
      'id',
      'first, "or"\nlast',
      'x',
    ]);
    expect(firstRecord('id;5" pipe', ';')).toEqual(['id', '5" pipe']);
  });

  it('is none where there is nothing, or quotes are not closed', () => {
    expect(firstRecord('\n', ',')).toBeUndefined();
    expect(firstRecord('"id,mail\n', ',')).toBeUndefined();
  });
});

describe('a file', () => {
  it('is looked at for what it is', async () => {
    expect(await guessForm(fileOf('id;mail\n1;a,b,c\n'))).toEqual({
      format: 'csv',
      delimiter: ';',
      encoding: 'utf-8',
    });
    const latin = new Uint8Array([0x69, 0x64, 0x2c, 0xf1, 0x0a]);
    expect(await guessForm(fileOf(latin))).toMatchObject({ encoding: 'windows-1252' });
    expect(await guessForm(fileOf('{"id":1}\n', 'contacts.jsonl'))).toMatchObject({ format: 'jsonl' });
  });

  it('tells its columns, gzip or not, with a byte order mark or without', async () => {
    const form = { format: 'csv', delimiter: ',', encoding: 'utf-8' } as const;
    expect(await columnsOf(fileOf('\ufeffid,año\n'), form)).toEqual(['id', 'año']);
    expect(await columnsOf(fileOf(new Uint8Array(gzipSync('id,mail\n1,2\n'))), form)).toEqual(['id', 'mail']);
    expect(await columnsOf(fileOf('{"id":1,"mail":null}\n'), { ...form, format: 'jsonl' })).toEqual([
      'id',
      'mail',
    ]);
    expect(await columnsOf(fileOf('[1]\n'), { ...form, format: 'jsonl' })).toBeUndefined();
  });
});
