import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import {
  DatabaseFault,
  eventually,
  expectProblem,
  expectStatus,
  type Caller,
} from '@customer-platform/testing';
import type { ContactDto } from '../people/contacts/contact.dto.js';
import { accepted, aTrack, processing, startCore, START_MS, type TestCore } from '../core.fixture.js';
import { aFolder, ended, imported, lines, send, told } from './import.fixture.js';

const NONE = { total: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };

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

async function contactsOf(caller: Caller): Promise<ContactDto[]> {
  const answer = await caller.get<{ data: ContactDto[] }>('/v1/core/contacts?limit=200');
  expectStatus(answer, 200);
  return answer.body.data.reverse();
}

async function contactOf(caller: Caller, externalId: string): Promise<ContactDto> {
  const answer = await caller.get<{ data: ContactDto[] }>(`/v1/core/contacts?external_id=${externalId}`);
  const [contact] = answer.body.data;
  if (!contact) throw new Error(`There is no contact ${externalId}`);
  return contact;
}

const rowsOf = (count: number, prefix: string): string =>
  lines(
    'id,mail,name',
    ...Array.from({ length: count }, (_, at) => `${prefix}-${at},${prefix}${at}@example.com,N${at}`),
  );

describe('POST /v1/core/imports', () => {
  it('makes contacts by the rules of those that are created one by one', async () => {
    const { id, caller } = core.anOrganization();
    const done = await imported(
      caller,
      lines(
        'id,mail,tel,rut,name,born,country,plan,note',
        'a-1, Ana@Example.COM ,9 1234 5678,12.345.678-5,"Ana ""la"" Ñ",1990-05-17,cl,pro,x',
        'a-2,,,,,,,,x',
      ),
      {
        mapping: {
          id: 'external_id',
          mail: 'email',
          tel: 'phone',
          rut: 'national_id.CL_RUT',
          name: 'first_name',
          born: 'birth_date',
          country: 'country',
          plan: 'attributes.plan',
          note: null,
        },
      },
    );
    expect(done.errors.data).toEqual([]);
    expect(done).toMatchObject({ state: 'completed', rows: { ...NONE, total: 2, created: 2 } });
    expect(done.file).toMatchObject({ rows: 2 });
    const [first, second] = await contactsOf(caller);
    expect(
      [first, second].sort((a, b) => ((a?.external_id ?? '') < (b?.external_id ?? '') ? -1 : 1)),
    ).toMatchObject([
      {
        external_id: 'a-1',
        email: 'Ana@Example.COM',
        phone: '+56912345678',
        first_name: 'Ana "la" Ñ',
        birth_date: '1990-05-17',
        country: 'CL',
        national_id: { type: 'CL_RUT', masked: '***5678-5' },
        attributes: { plan: 'pro' },
        source: 'import',
        version: 1,
      },
      { external_id: 'a-2', email: null, attributes: {} },
    ]);
    const usage = await caller.get<{ totals: { contacts: { created: number } } }>('/v1/core/usage');
    expect(usage.body.totals.contacts.created).toBe(2);
    const search = await caller.get<{ data: unknown[] }>('/v1/core/contacts?q=ana');
    expect(search.body.data).toHaveLength(1);
    const identities = await core.database.query<{ type: string; source: string }>(
      'SELECT type, source FROM identities WHERE organization_id = $1 ORDER BY type, value',
      [id],
    );
    expect(identities.map(({ type }) => type)).toEqual(['email', 'external_id', 'external_id', 'phone']);
    await eventually(async () => {
      const rows = await core.database.query<{ action: string }>(
        'SELECT action FROM audit_log WHERE organization_id = $1 ORDER BY seq',
        [id],
      );
      expect(rows.map(({ action }) => action)).toEqual(['core.imports.create', 'core.imports.complete']);
    });
  });

  it('changes, leaves or refuses those that are there, and sees within the file what it has made', async () => {
    const { caller } = core.anOrganization();
    const file = lines('id,mail,name', 'b-1,b1@example.com,One', 'b-2,b2@example.com,Two', 'b-1,,Uno');
    expect((await imported(caller, file)).rows).toEqual({ ...NONE, total: 3, created: 2, updated: 1 });
    expect(await contactOf(caller, 'b-1')).toMatchObject({
      first_name: 'Uno',
      email: 'b1@example.com',
      version: 2,
    });
    const again = lines('id,mail,name', 'b-1,b1@example.com,Uno', 'b-2,,Dos', 'b-3,,Tres');
    expect((await imported(caller, again, { on_existing: 'skip' })).rows).toEqual({
      ...NONE,
      total: 3,
      created: 1,
      skipped: 2,
    });
    const refused = await imported(caller, again, { on_existing: 'fail' });
    expect(refused.rows).toEqual({ ...NONE, total: 3, failed: 3 });
    expect(told(refused.errors)).toEqual([
      '2 id duplicate_value',
      '3 id duplicate_value',
      '4 id duplicate_value',
    ]);
    expect((await imported(caller, again)).rows).toEqual({ ...NONE, total: 3, updated: 1, unchanged: 2 });
    const other = await imported(
      caller,
      lines('id,mail,name', 'b-4,B2@example.com,Four', 'b-1,b9@example.com,'),
    );
    expect(other.rows).toEqual({ ...NONE, total: 2, updated: 1, failed: 1 });
    expect(other.errors.data).toEqual([
      {
        line: 2,
        column: 'mail',
        code: 'duplicate_value',
        value: 'B2@example.com',
        detail: 'Another contact has this `email`.',
      },
    ]);
    // What was replaced is free again.
    const free = await imported(caller, lines('id,mail,name', 'b-5,b1@example.com,Five'));
    expect(free.rows).toEqual({ ...NONE, total: 1, created: 1 });
  });

  it('takes what a soft-deleted contact had, as a new contact would', async () => {
    const { caller } = core.anOrganization();
    await imported(caller, lines('id,mail,name', 'd-1,d1@example.com,One'));
    const { id } = await contactOf(caller, 'd-1');
    expectStatus(await caller.delete(`/v1/core/contacts/${id}`), 204);
    const done = await imported(caller, lines('id,mail,name', 'd-1,d1@example.com,New'));
    expect(done.rows).toEqual({ ...NONE, total: 1, created: 1 });
    expect((await contactOf(caller, 'd-1')).id).not.toBe(id);
    expectProblem(await caller.post(`/v1/core/contacts/${id}/restore`), 409, 'restore_conflict');
  });

  it('tells every error with its line, and goes on behind it', async () => {
    const { caller } = core.anOrganization();
    const bytes = Buffer.concat([
      Buffer.from(
        lines(
          'id,mail,name',
          'e-1,nothing,"Two',
          'lines"',
          'e-2,e2@example.com',
          'e-3,e3@example.com,"x"y',
          'null,e4@example.com,Four',
          '',
          ',e5@example.com,Five',
          'e-6,,A\0B',
        ),
      ),
      Buffer.from('e-7,,Jos\xe9\n', 'latin1'),
      Buffer.from(`e-8,,${'x'.repeat(10 * 1024 * 1024)}\n`),
      Buffer.from('e-9,e9@example.com,Nine\n'),
    ]);
    const done = await imported(caller, bytes);
    expect(done.state).toBe('completed');
    expect(told(done.errors)).toEqual([
      '2 mail invalid_format',
      '4 - wrong_column_count',
      '5 - malformed_row',
      '6 id placeholder_identifier',
      '8 id required',
      '9 name invalid_format',
      '10 name invalid_encoding',
      '11 - row_too_large',
    ]);
    expect(done.rows).toEqual({ ...NONE, total: 9, created: 1, failed: 8 });
    expect(done.file.rows).toBe(9);
    expect((await contactsOf(caller)).map(({ external_id: id }) => id)).toEqual(['e-9']);
  });

  it('keeps no more errors of a row than an answer names, each with whom the row names', async () => {
    const { id, caller } = core.anOrganization();
    const options = { format: 'jsonl', mapping: { id: 'external_id', mail: 'email' } };
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`u${at}`, at]));
    const row = (at: number): string =>
      JSON.stringify({ id: `ee-${at}`, mail: `ee${at}@example.com`, ...unknown });
    // More than a piece of errors.
    const done = await imported(
      caller,
      lines('{}', ...Array.from({ length: 300 }, (_, at) => row(at))),
      options,
    );
    expect(done.rows).toEqual({ ...NONE, total: 301, failed: 301 });
    const [kept] = await core.database.query(
      `SELECT count(*)::int AS errors, count(DISTINCT line)::int AS lines, max(place) AS last,
              count(DISTINCT subjects)::int AS people, min(cardinality(subjects)) AS named
         FROM import_errors WHERE organization_id = $1 AND line > 1`,
      [id],
    );
    expect(kept).toEqual({ errors: 6_000, lines: 300, last: 6_001, people: 300, named: 2 });
  });

  it('reads other encodings and delimiters, a byte order mark and gzip', async () => {
    const { caller } = core.anOrganization();
    const latin = Buffer.from('id;mail;name\r\nf-1;;Jos\xe9 \x80\r\n', 'latin1');
    await imported(caller, latin, { delimiter: ';', encoding: 'windows-1252' });
    await imported(caller, gzipSync(`\ufeff"id",mail,name\nf-2,,Ñandú`));
    const names = await Promise.all(['f-1', 'f-2'].map((id) => contactOf(caller, id)));
    expect(names.map(({ first_name: name }) => name)).toEqual(['José €', 'Ñandú']);
  });

  it('reads JSON lines, in which null clears and values keep their types', async () => {
    const { caller } = core.anOrganization();
    const mapping = {
      id: 'external_id',
      mail: 'email',
      name: 'first_name',
      plan: 'attributes.plan',
      x: null,
    };
    const options = { format: 'jsonl', mapping };
    const done = await imported(
      caller,
      lines(
        JSON.stringify({ id: 'g-1', mail: 'g1@example.com', plan: { seats: 3 } }),
        '[1]',
        JSON.stringify({ id: 'g-2', other: 1 }),
        JSON.stringify({ id: 5 }),
        JSON.stringify({ id: 'g-1', mail: null, name: 'Ana' }),
      ),
      options,
    );
    expect(told(done.errors)).toEqual(['2 - malformed_row', '3 other unknown_field', '4 id wrong_type']);
    expect(await contactOf(caller, 'g-1')).toMatchObject({
      email: null,
      first_name: 'Ana',
      attributes: { plan: { seats: 3 } },
    });
  });

  it('writes nothing in a dry run', async () => {
    const { id, caller } = core.anOrganization();
    const file = lines('id,mail,name', 'h-1,h1@example.com,One', 'h-1,,Uno', 'h-2,x,Two');
    const dry = await imported(caller, file, { dry_run: true });
    expect(dry.rows).toEqual({ ...NONE, total: 3, created: 1, updated: 1, failed: 1 });
    expect(await contactsOf(caller)).toEqual([]);
    const rows = await core.database.query('SELECT 1 FROM identities WHERE organization_id = $1', [id]);
    expect(rows).toEqual([]);
    expect((await imported(caller, file)).rows).toEqual(dry.rows);
  });

  it('records consents as said by import, and none again that holds', async () => {
    const { caller } = core.anOrganization();
    const mapping = {
      id: 'external_id',
      news: 'consents.marketing.email',
      all: 'consents.marketing',
      notice: 'consents.notice_version',
    };
    const file = lines(
      'id,news,all,notice',
      'i-1,granted,denied,v1',
      'i-2,granted,,',
      'i-3,perhaps,,v1',
      'i-4,withdrawn,,',
    );
    const done = await imported(caller, file, { mapping });
    expect(told(done.errors)).toEqual(['3 notice required', '4 news invalid_enum']);
    expect(done.rows).toEqual({ ...NONE, total: 4, created: 2, failed: 2 });
    const { id } = await contactOf(caller, 'i-1');
    const history = `/v1/core/contacts/${id}/consents?view=history`;
    const said = await caller.get<{ data: { status: string; method: string }[] }>(history);
    expect(said.body.data.map(({ status, method }) => `${status} ${method}`).sort()).toEqual([
      'denied import',
      'granted import',
    ]);
    const again = await imported(caller, lines('id,news,all,notice', 'i-4,withdrawn,,'), { mapping });
    expect(again.rows).toEqual({ ...NONE, total: 1, unchanged: 1 });
    const changed = await imported(caller, lines('id,news,all,notice', 'i-4,granted,,v2'), { mapping });
    expect(changed.rows).toEqual({ ...NONE, total: 1, updated: 1 });
  });

  it('keeps segments up, by a cause that triggers no message', async () => {
    const { id, caller } = core.anOrganization();
    const segment = await caller.post<{ id: string }>('/v1/core/segments', {
      name: 'Pro',
      rule: { attribute: 'attributes.plan', op: 'eq', value: 'pro' },
    });
    expectStatus(segment, 201);
    await eventually(async () => {
      const now = await caller.get<{ state: string }>(`/v1/core/segments/${segment.body.id}`);
      expect(now.body.state).toBe('ready');
    });
    await imported(caller, lines('id,plan', 'j-1,pro', 'j-2,free'), {
      mapping: { id: 'external_id', plan: 'attributes.plan' },
    });
    await eventually(async () => {
      const rows = await core.database.query<{ cause: string }>(
        'SELECT cause FROM segment_members WHERE organization_id = $1',
        [id],
      );
      expect(rows).toEqual([{ cause: 'import' }]);
    });
  });

  it('passes over a row that the database refuses, and does all others', async () => {
    const { caller } = core.anOrganization();
    const fault = await DatabaseFault.in(core.database, {
      table: 'contacts',
      on: 'INSERT',
      when: `NEW.first_name = 'poison'`,
    });
    const done = await imported(caller, lines('id,mail,name', 'k-1,,One', 'k-2,,poison', 'k-3,,Three'));
    await fault.mend();
    expect(done.rows).toEqual({ ...NONE, total: 3, created: 2, failed: 1 });
    expect(told(done.errors)).toEqual(['3 - internal_error']);
  });

  it('begins a piece anew that was cut off, without a duplicate or a gap', async () => {
    const { id, caller } = core.anOrganization();
    const fault = await DatabaseFault.in(core.database, {
      table: 'imports',
      on: 'UPDATE',
      when: `NEW.organization_id = '${id}' AND NEW.position > 0`,
      // As a connection that breaks: the piece before it is rolled back.
      code: '57P01',
      times: 2,
    });
    const bad = lines('l-x,nothing,', 'l-y,nothing,');
    const done = await imported(caller, `${rowsOf(1_200, 'l')}${bad}`);
    expect(await fault.tries()).toBeGreaterThanOrEqual(3);
    await fault.mend();
    expect(done.rows).toEqual({ ...NONE, total: 1_202, created: 1_200, failed: 2 });
    expect(told(done.errors)).toEqual(['1202 mail invalid_format', '1203 mail invalid_format']);
    const [row] = await core.database.query<{ contacts: number; told: number }>(
      `SELECT count(*)::int AS contacts, count(DISTINCT external_id)::int AS told FROM contacts WHERE organization_id = $1`,
      [id],
    );
    expect(row).toEqual({ contacts: 1_200, told: 1_200 });
  });

  it('makes one contact of what comes by an event at the same time', async () => {
    const { id, caller } = core.anOrganization();
    const ids = Array.from({ length: 60 }, (_, at) => `t-${at}`);
    const mapping = { id: 'external_id', name: 'first_name' };
    const file = lines('id,name', ...ids.map((each) => `${each},Imported`));
    const events = ids.map((each) => accepted(caller, aTrack({ external_id: each })));
    const [done] = await Promise.all([imported(caller, file, { mapping }), ...events]);
    expect(done.rows).toMatchObject({ total: 60, failed: 0 });
    await eventually(
      async () => {
        const [row] = await core.database.query(
          `SELECT (SELECT count(*)::int FROM events WHERE organization_id = $1) AS events,
                  count(*)::int AS contacts, count(DISTINCT external_id)::int AS distinct,
                  count(*) FILTER (WHERE first_name = 'Imported')::int AS named
             FROM contacts WHERE organization_id = $1`,
          [id],
        );
        expect(row).toEqual({ events: 60, contacts: 60, distinct: 60, named: 60 });
      },
      { within: 60_000 },
    );
  });

  it('gives each organization its turn', async () => {
    const [large, small] = [core.anOrganization(), core.anOrganization()];
    const first = await send(large.caller, rowsOf(5_000, 'm'));
    const second = await send(small.caller, rowsOf(10, 'n'));
    const [one, other] = [await ended(large.caller, first.body), await ended(small.caller, second.body)];
    expect(Date.parse(other.ended_at ?? '')).toBeLessThan(Date.parse(one.ended_at ?? ''));
  });

  it('leaves no file behind', async () => {
    const { caller } = core.anOrganization();
    const done = await imported(caller, rowsOf(1, 'o'));
    await eventually(async () => expect(await readdir(folder.path)).not.toContain(done.id));
  });
});
