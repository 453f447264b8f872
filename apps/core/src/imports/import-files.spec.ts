import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@customer-platform/database';
import { OutboxRelay } from '@customer-platform/event-bus';
import { eventually, expectStatus, type Caller } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { FileMissing } from './files/file-store.js';
import { ImportFiles, type ImportFile } from './files/import-files.js';
import { BLOCK_BYTES, FileDamaged } from './files/sealed-blocks.js';
import { aFolder, IMPORTS, lines, send } from './import.fixture.js';
import type { ImportDto } from './import.dto.js';
import { ImportRunner } from './running/import-runner.js';

const LONG_AGO = new Date(Date.now() - 7_200_000);

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
let files: ImportFiles;
let runner: ImportRunner;
beforeAll(async () => {
  folder = await aFolder();
  // Nothing is carried out by itself.
  core = await startCore({ IMPORT_DIRECTORY: folder.path, PROCESS_ROLE: 'api' });
  const { app } = core.app;
  // But what it tells is published: it waits for that.
  process.env['DATABASE_URL'] = core.database.url;
  app.get(OutboxRelay, { strict: false }).start();
  Reflect.deleteProperty(process.env, 'DATABASE_URL');
  files = app.get(ImportFiles, { strict: false });
  runner = app.get(ImportRunner, { strict: false });
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});

async function taken(caller: Caller, rows: readonly string[]): Promise<ImportDto> {
  const answer = await send(caller, lines('id,mail,name', ...rows));
  expectStatus(answer, 202);
  return answer.body;
}

const read = async (caller: Caller, { id }: { id: string }): Promise<ImportDto> =>
  (await caller.get<ImportDto>(`${IMPORTS}/${id}`)).body;

const pathOf = ({ id }: { id: string }): string => join(folder.path, id);

async function written(content: Buffer): Promise<ImportFile> {
  const [organizationId, id] = [newId(), newId()];
  const file = await files.create(organizationId, id);
  for (let at = 0; at < content.length; at += 50_000) await file.write(content.subarray(at, at + 50_000));
  await file.finish();
  return { organizationId, id, key: file.sealedKey, bytes: content.length };
}

async function contentOf(file: ImportFile, from = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of files.read(file, from)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the files of imports', () => {
  const content = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join(''));

  it('are read from any byte on, and lie sealed', async () => {
    const file = await written(content);
    for (const from of [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, content.length - 1, content.length])
      expect((await contentOf(file, from)).equals(content.subarray(from))).toBe(true);
    expect((await readFile(pathOf(file))).includes('line')).toBe(false);
  });

  it('are not read with the key of another, nor where anything of them is another', async () => {
    const [file, other] = [await written(content), await written(content)];
    await expect(contentOf({ ...file, key: other.key })).rejects.toThrow();
    const bytes = await readFile(pathOf(file));
    const changed = Buffer.from(bytes);
    changed[100] = (changed[100] ?? 0) ^ 1;
    const sealed = BLOCK_BYTES + 16;
    const moved = Buffer.concat([
      bytes.subarray(sealed, 2 * sealed),
      bytes.subarray(0, sealed),
      bytes.subarray(2 * sealed),
    ]);
    for (const bad of [changed, moved, bytes.subarray(0, sealed)]) {
      await writeFile(pathOf(file), bad);
      await expect(contentOf(file)).rejects.toThrow(FileDamaged);
    }
    await files.remove(file.id);
    await expect(contentOf(file)).rejects.toThrow(FileMissing);
  });
});

describe('an import whose file', () => {
  /** Runs what can be run, until the import is in this state. */
  const carriedOut = (caller: Caller, one: { id: string }, state: string): Promise<void> =>
    eventually(
      async () => {
        await runner.runAll();
        expect(await read(caller, one)).toMatchObject({ state });
      },
      { within: 60_000, every: 200 },
    );

  it('is damaged ends as failed, and what was done stays', async () => {
    const { caller } = core.anOrganization();
    const one = await taken(caller, ['a-1,,One']);
    await writeFile(pathOf(one), 'nothing');
    await carriedOut(caller, one, 'failed');
    expect(await read(caller, one)).toMatchObject({ failure_code: 'file_unavailable' });
    const [row] = await core.database.query('SELECT file_key FROM imports WHERE id = $1', [one.id]);
    expect(row).toEqual({ file_key: null });
  });

  it('is not seen here waits for who sees it, and holds up no other organization', async () => {
    const [{ caller }, other] = [core.anOrganization(), core.anOrganization()];
    const one = await taken(caller, ['b-1,,One']);
    const theirs = await taken(other.caller, ['b-2,,Two']);
    await files.remove(one.id);
    await carriedOut(other.caller, theirs, 'completed');
    expect(await read(caller, one)).toMatchObject({ state: 'queued' });
  });
});

it('are swept once nobody reads them any more', async () => {
  const { caller } = core.anOrganization();
  const open = await taken(caller, ['c-1,,One']);
  const [abandoned, unfinished] = [newId(), `${newId()}.part`];
  for (const name of [abandoned, unfinished, 'of-somebody-else'])
    await writeFile(join(folder.path, name), 'x');
  for (const name of [open.id, abandoned, unfinished, 'of-somebody-else'])
    await utimes(join(folder.path, name), LONG_AGO, LONG_AGO);
  const fresh = newId();
  await writeFile(join(folder.path, fresh), 'x');
  await runner.sweep();
  const left = await Promise.all(
    [open.id, abandoned, unfinished, 'of-somebody-else', fresh].map((name) =>
      readFile(join(folder.path, name)).then(
        () => true,
        () => false,
      ),
    ),
  );
  expect(left).toEqual([true, false, false, true, true]);
  await eventually(async () => {
    await runner.runAll();
    expect(await read(caller, open)).toMatchObject({ state: 'completed' });
  });
});

it('two that look at once do each piece once, and files of one organization in their order', async () => {
  const { id, caller } = core.anOrganization();
  const rows = Array.from({ length: 1_100 }, (_, at) => `d-${at},d${at}@example.com,First`);
  const first = await taken(caller, rows);
  const second = await taken(caller, ['d-0,,Second']);
  // They end where events wait to be published, and look again.
  await eventually(
    async () => {
      await Promise.all([runner.runAll(), runner.runAll()]);
      expect(await read(caller, second)).toMatchObject({ state: 'completed' });
    },
    { within: 60_000, every: 200 },
  );
  expect((await read(caller, first)).rows).toMatchObject({ total: 1_100, created: 1_100 });
  expect((await read(caller, second)).rows).toMatchObject({ total: 1, updated: 1 });
  const [row] = await core.database.query(
    `SELECT count(*)::int AS contacts, count(*) FILTER (WHERE first_name = 'Second')::int AS second FROM contacts
      WHERE organization_id = $1`,
    [id],
  );
  expect(row).toEqual({ contacts: 1_100, second: 1 });
});
