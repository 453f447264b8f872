import { expectStatus, type Caller } from '@customer-platform/testing';
import type { ContactDto } from '../people/contacts/contact.dto.js';
import { processing, startCore, START_MS, type TestCore } from '../core.fixture.js';
import { aFolder, imported, lines } from './import.fixture.js';

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
beforeAll(async () => {
  folder = await aFolder();
  core = await startCore({ IMPORT_DIRECTORY: folder.path });
  await processing(core);
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});

const TYPES = {
  amount: 'number',
  count: 'integer',
  vip: 'boolean',
  born: 'date',
  seen: 'datetime',
  tags: 'string_list',
  code: 'string',
} as const;

const MAPPING = Object.fromEntries([
  ['mail', 'email'],
  ...[...Object.keys(TYPES), 'free'].map((key) => [key, `attributes.${key}`]),
]) as Record<string, string>;
const HEADER = ['mail', ...Object.keys(TYPES), 'free'];

async function anOrganization(): Promise<Caller> {
  const { caller } = core.anOrganization();
  for (const [key, type] of Object.entries(TYPES))
    expectStatus(await caller.post('/v1/core/attribute-definitions', { key, type }), 201);
  return caller;
}

async function attributesOf(caller: Caller): Promise<unknown[]> {
  const answer = await caller.get<{ data: ContactDto[] }>('/v1/core/contacts?limit=200');
  return answer.body.data.map(({ attributes }) => attributes).reverse();
}

describe('cells of CSV that fill declared attributes', () => {
  it('are read as the declared types', async () => {
    const caller = await anOrganization();
    const row = [
      'ana@example.com',
      '1234.56',
      '5',
      'yes',
      '1990-05-01',
      '2026-01-02T03:04:05-03:00',
      'a|b',
      '007',
      '5',
    ];
    const done = await imported(caller, lines(HEADER.join(), row.join()), { mapping: MAPPING });
    expect([done.rows, done.errors.data]).toMatchObject([{ created: 1, failed: 0 }, []]);
    expect(await attributesOf(caller)).toEqual([
      {
        amount: 1234.56,
        count: 5,
        vip: true,
        born: '1990-05-01',
        seen: '2026-01-02T06:04:05.000Z',
        tags: ['a', 'b'],
        code: '007',
        free: '5',
      },
    ]);
    const again = await imported(caller, lines(HEADER.join(), row.join()), { mapping: MAPPING });
    expect(again.rows).toMatchObject({ unchanged: 1 });
  });

  it('have decimal commas where the delimiter is a semicolon and the column agrees, also behind its first piece', async () => {
    const caller = await anOrganization();
    const mapping = { mail: 'email', amount: 'attributes.amount', count: 'attributes.count' };
    const rows = Array.from({ length: 1_200 }, (_, at) => `p${at}@example.com;1.${100 + (at % 800)};${at}`);
    const file = lines('mail;amount;count', ...rows, 'last@example.com;1.234,50;12');
    const done = await imported(caller, file, { mapping, delimiter: ';' });
    expect(done.rows).toMatchObject({ created: 1_201, failed: 0 });
    const of = async (mail: string): Promise<unknown> => {
      const found = await caller.get<{ data: ContactDto[] }>(`/v1/core/contacts?email=${mail}`);
      return found.body.data[0]?.attributes['amount'];
    };
    expect(await of('p7@example.com')).toBe(1_107);
    expect(await of('last@example.com')).toBe(1_234.5);
  });

  it('are refused each by itself where the column does not agree, and nothing of their rows is written', async () => {
    const caller = await anOrganization();
    const mapping = { mail: 'email', amount: 'attributes.amount' };
    const file = lines('mail;amount', 'a@example.com;12,5', 'b@example.com;12.5', 'c@example.com;7');
    const done = await imported(caller, file, { mapping, delimiter: ';' });
    const detail = expect.stringContaining('do not agree') as string;
    const code = 'attribute_type_mismatch';
    expect(done.errors.data).toEqual([
      { line: 2, column: 'amount', code, value: '12,5', detail },
      { line: 3, column: 'amount', code, value: '12.5', detail },
    ]);
    expect(await attributesOf(caller)).toEqual([{ amount: 7 }]);
  });

  it.each([false, true])('tell what was expected, all of a row at once (dry run: %p)', async (dry_run) => {
    const caller = await anOrganization();
    const row = 'no address,"1,5",2.5,perhaps,03/04/2026,2026-01-02T03:04:05,|,x,y';
    const good = 'eva@example.com,"1,5",9007199254740993,1,2026-04-03,,a,,';
    const done = await imported(caller, lines(HEADER.join(), row, good), { mapping: MAPPING, dry_run });
    expect(done.rows).toMatchObject({ failed: 2, total: 2 });
    expect(done.errors.data.map(({ line, column, code }) => `${line} ${column ?? '-'} ${code}`)).toEqual([
      '2 mail invalid_format',
      ...['amount', 'count', 'vip', 'born', 'seen', 'tags'].map(
        (each) => `2 ${each} attribute_type_mismatch`,
      ),
      '3 amount attribute_type_mismatch',
      '3 count out_of_range',
    ]);
    for (const { detail } of done.errors.data) expect(detail).toMatch(/^It /);
  });

  it('of JSON lines stay what they are', async () => {
    const caller = await anOrganization();
    const mapping = { mail: 'email', amount: 'attributes.amount' };
    const rows = [
      { mail: 'a@example.com', amount: '12.5' },
      { mail: 'b@example.com', amount: 12.5 },
    ];
    const file = lines(...rows.map((row) => JSON.stringify(row)));
    const done = await imported(caller, file, { mapping, format: 'jsonl' });
    expect(done.errors.data).toMatchObject([{ line: 1, code: 'attribute_type_mismatch', value: '12.5' }]);
    expect(await attributesOf(caller)).toEqual([{ amount: 12.5 }]);
  });

  it('say why a phone number is refused', async () => {
    const { caller } = core.anOrganization();
    const mapping = { id: 'external_id', tel: 'phone', country: 'country' };
    const file = lines(
      'id;tel;country',
      'a;56987650041.0;CL',
      'b;(09) 8765 0042;CL',
      'c;+56 (0)9 8765 0043;CL',
      'd;43699123456780,0;AT',
    );
    const done = await imported(caller, file, { mapping, delimiter: ';' });
    const code = 'invalid_format';
    const spreadsheet = expect.stringContaining('spreadsheet') as string;
    expect(done.errors.data).toEqual([
      { line: 2, column: 'tel', code, value: '56987650041.0', detail: spreadsheet },
      {
        line: 3,
        column: 'tel',
        code,
        value: '(09) 8765 0042',
        detail: expect.stringContaining('plan') as string,
      },
      { line: 5, column: 'tel', code, value: '43699123456780,0', detail: spreadsheet },
    ]);
    const found = await caller.get<{ data: ContactDto[] }>('/v1/core/contacts?external_id=c');
    expect(found.body.data).toMatchObject([{ phone: '+56987650043' }]);
  });
});
