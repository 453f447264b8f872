import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { newId } from '@customer-platform/database';
import { recordOf } from '@customer-platform/events';
import { eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { Client } from 'pg';
import {
  CONTACT_FIELDS,
  FIELD_NAMES,
  type ContactField,
} from '../vocabulary/contacts/contact-field-table.js';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { aFolder, ended, imported, IMPORTS, lines, MAPPING, send, sendParts } from './import.fixture.js';
import type { ImportDto } from './import.dto.js';

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
beforeAll(async () => {
  folder = await aFolder();
  core = await startCore({ IMPORT_DIRECTORY: folder.path });
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});

const rowsOf = (count: number, prefix: string): string =>
  lines(
    'id,mail,name',
    ...Array.from({ length: count }, (_, at) => `${prefix}-${at},${prefix}${at}@example.com,N${at}`),
  );

describe('A row', () => {
  const examples = recordOf(FIELD_NAMES, (field) => CONTACT_FIELDS[field].example);
  const options = { mapping: recordOf(FIELD_NAMES, (field) => field) };
  const rowOf = (of: (field: ContactField) => string): string =>
    lines(FIELD_NAMES.join(','), FIELD_NAMES.map((field) => `"${of(field)}"`).join(','));

  it('fills every field, of a contact that is new and of one that is there', async () => {
    const { caller } = core.anOrganization();
    const named = rowOf((field) => (field === 'external_id' ? examples.external_id : ''));
    const whole = rowOf((field) => examples[field]);
    expect((await imported(caller, named, options)).rows).toMatchObject({ created: 1 });
    expect((await imported(caller, whole, options)).rows).toMatchObject({ updated: 1 });
    const other = core.anOrganization().caller;
    expect((await imported(other, whole, options)).rows).toMatchObject({ created: 1 });
    for (const each of [caller, other])
      expect((await each.get('/v1/core/contacts')).body).toMatchObject({ data: [examples] });
  });
});

describe('What is refused', () => {
  const file = lines('id,mail,name', 'p-1,p1@example.com,One');

  it.each([
    ['a column that is not mapped', { mapping: { id: 'external_id', mail: 'email' } }],
    ['a column that the file does not have', { mapping: { ...MAPPING, other: null } }],
    ['a field that does not exist', { mapping: { ...MAPPING, name: 'nickname' } }],
    ['a column whose name has no end', { mapping: { ...MAPPING, ['x'.repeat(201)]: null } }],
    ['two columns for one field', { mapping: { ...MAPPING, name: 'email' } }],
    ['nothing to find contacts by', { mapping: { id: null, mail: null, name: 'first_name' } }],
    ['a field to find them by that is not mapped', { match_by: 'phone' }],
  ])('%s: 400 invalid_mapping', async (_, options) => {
    const { caller } = core.anOrganization();
    expectProblem(await send(caller, file, options), 400, 'invalid_mapping');
  });

  it('a national id in a dry run, which would tell who has it, without core.contacts.read_national_id: 403', async () => {
    const { caller } = core.anOrganization(['core.imports.create']);
    const mapping = { ...MAPPING, name: 'national_id.CL_RUT' };
    const refused = await send(caller, file, { mapping, dry_run: true });
    expect(expectProblem(refused, 403, 'permission_denied')['permission']).toBe(
      'core.contacts.read_national_id',
    );
    expectStatus(await send(caller, file, { mapping }), 202);
    const able = core.anOrganization(['core.imports.create', 'core.contacts.read_national_id']).caller;
    expectStatus(await send(able, file, { mapping, dry_run: true }), 202);
  });

  it('consents without core.consents.write: 403', async () => {
    const { caller } = core.anOrganization(['core.imports.create']);
    const mapping = { ...MAPPING, name: 'consents.marketing' };
    expectProblem(await send(caller, file, { mapping }), 403, 'permission_denied');
  });

  it.each([
    ['no file', [['options', JSON.stringify({ mapping: MAPPING })]], 400, 'malformed_request'],
    ['no options', [['file', file]], 400, 'malformed_request'],
    [
      'options after the file',
      [
        ['file', file],
        ['options', '{}'],
      ],
      400,
      'malformed_request',
    ],
    [
      'options that are no JSON',
      [
        ['options', '{'],
        ['file', file],
      ],
      400,
      'malformed_json',
    ],
    [
      'an unknown option',
      [
        ['options', '{"mapping":{},"x":1}'],
        ['file', file],
      ],
      400,
      'validation_failed',
    ],
    [
      'an empty file',
      [
        ['options', JSON.stringify({ mapping: MAPPING })],
        ['file', ''],
      ],
      400,
      'malformed_request',
    ],
    [
      'broken gzip',
      [
        ['options', JSON.stringify({ mapping: MAPPING })],
        ['file', Buffer.from([0x1f, 0x8b, 1, 2, 3, 4])],
      ],
      400,
      'malformed_request',
    ],
    [
      'what inflates beyond reason',
      [
        ['options', JSON.stringify({ mapping: MAPPING })],
        ['file', gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'))],
      ],
      413,
      'body_too_large',
    ],
    [
      'UTF-16',
      [
        ['options', JSON.stringify({ mapping: MAPPING })],
        ['file', Buffer.from('\ufeffid', 'utf16le')],
      ],
      400,
      'malformed_request',
    ],
  ] as const)('%s', async (_, parts, status, code) => {
    const { caller } = core.anOrganization();
    const sent = parts.map(([name, content]) => [name, content as string] as const);
    expectProblem(await sendParts(caller, sent), status, code);
    const list = await caller.get<{ data: unknown[] }>(IMPORTS);
    expect(list.body.data).toEqual([]);
  });

  it('more than a million rows', async () => {
    const { caller } = core.anOrganization();
    const rows = gzipSync(`id\n${Array.from({ length: 1_000_001 }, (_, at) => at).join('\n')}`);
    expectProblem(await send(caller, rows, { mapping: { id: 'external_id' } }), 413, 'body_too_large');
  });

  it('another type of body: 415', async () => {
    const { caller } = core.anOrganization();
    expectProblem(await caller.post(IMPORTS, { mapping: MAPPING }), 415, 'unsupported_media_type');
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe('Idempotency-Key', () => {
  it('is of options and content: the same answer again, another file 422', async () => {
    const { caller } = core.anOrganization();
    const key = { 'idempotency-key': newId() };
    const file = lines('id,mail,name', 'q-1,q1@example.com,One');
    const first = await send(caller, file, {}, key);
    expectStatus(first, 202);
    await ended(caller, first.body);
    const again = await send(caller, gzipSync(file), {}, key);
    expect([again.status, again.body.id, again.headers.get('idempotent-replay')]).toEqual([
      202,
      first.body.id,
      'true',
    ]);
    expectProblem(await send(caller, `${file}q-2,,\n`, {}, key), 422, 'idempotency_key_reused');
    expectProblem(await send(caller, file, { dry_run: true }, key), 422, 'idempotency_key_reused');
    const list = await caller.get<{ data: ImportDto[] }>(IMPORTS);
    expect(list.body.data).toMatchObject([{ id: first.body.id, state: 'completed' }]);
  });
});

describe('GET /v1/core/imports/{id}', () => {
  it('pages the errors, and gives all of them as CSV that no spreadsheet works out', async () => {
    const { caller } = core.anOrganization();
    const rows = Array.from({ length: 1_100 }, (_, at) => `r-${at},=cmd|${at},`);
    const { id } = await imported(caller, lines('id,mail,name', ...rows));
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `${IMPORTS}/${id}?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body } = await caller.get<ImportDto>(path);
      seen.push(...body.errors.data.map(({ line }) => line));
      cursor = body.errors.page.next_cursor;
    }
    expect(seen).toEqual(rows.map((_, at) => at + 2));
    const csv = await caller.get<string>(`${IMPORTS}/${id}`, { headers: { accept: 'text/csv' } });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const written = csv.body.split('\r\n');
    expect(written.slice(0, 2)).toEqual([
      'line,column,code,value,detail',
      "2,mail,invalid_format,'=cmd|0,It has another form than its kind asks for.",
    ]);
    expect(written).toHaveLength(1_102);
  });

  it('of another organization: 404, as one that does not exist', async () => {
    const { caller } = core.anOrganization();
    const { id } = await imported(caller, rowsOf(1, 's'));
    const other = core.anOrganization().caller;
    expectProblem(await other.get(`${IMPORTS}/${id}`), 404, 'not_found');
    expectProblem(await other.get(`${IMPORTS}/${newId()}`), 404, 'not_found');
    expectProblem(await other.get(`${IMPORTS}/${id}`, { headers: { accept: 'text/csv' } }), 404, 'not_found');
  });

  it('breaks the file of errors off under the hands of who may read imports no more', async () => {
    const { id: organizationId, caller } = core.anOrganization();
    const { id } = await imported(caller, lines('id,mail,name', 'r-1,none,'));
    const { registry } = core.app;
    const key = registry.key({ organizationId, permissions: ['core.imports.read'] });
    const former = core.app.with(key);
    const holder = new Client({ connectionString: core.database.adminUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE import_errors IN ACCESS EXCLUSIVE MODE');
      const download = former.download(`${IMPORTS}/${id}`, 'text/csv').then(
        ({ bytes }) => bytes.length,
        () => 'broken off',
      );
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%import_errors%'`;
      await eventually(async () => expect(await core.database.query(waiting)).toHaveLength(1));
      registry.permit(key, ['core.contacts.read']);
      await eventually(async () => expectStatus(await former.get('/v1/core/contacts?limit=1'), 200));
      await holder.query('COMMIT');
      expect(await download).toBe('broken off');
    } finally {
      await holder.end();
    }
  });
});
