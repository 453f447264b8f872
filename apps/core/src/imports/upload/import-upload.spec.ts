import { readdir } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { Clock, Database, newId, Retention } from '@customer-platform/database';
import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { CORE_PERMISSIONS, startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { ImportFiles } from '../files/import-files.js';
import { aFolder, IMPORTS, lines, send } from '../import.fixture.js';
import type { ImportDto } from '../import.dto.js';
import { OLD_IMPORT_ERRORS } from '../imports.module.js';

const GIB = 1024 ** 3;
const FILE = lines('id,mail,name', 'a-1,,One');

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
beforeAll(async () => {
  folder = await aFolder();
  // Nothing is carried out.
  core = await startCore({ IMPORT_DIRECTORY: folder.path, PROCESS_ROLE: 'api' });
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});

/** Imports of an organization as they stand in the table, without files. */
function waiting(
  organizationId: string,
  count: number,
  { bytes = 1, state = 'queued', tenant = organizationId } = {},
): Promise<unknown> {
  return core.database.query(
    `INSERT INTO imports (organization_id, id, state, options, columns, file_bytes, file_rows, file_sha256, file_key, position,
                          line, actor_type, actor_id, correlation_id, moved_at, created_at, updated_at, tenant_id)
     SELECT $1, gen_random_uuid(), $4, '{}', '[]', $3, 1, '', '', 0, 1, 'user', 'x', gen_random_uuid(), now(), now(), now(),
            $5
       FROM generate_series(1, $2::int)`,
    [organizationId, count, bytes, state, tenant],
  );
}

/** An organization below a tenant. */
function aChildOf(tenant: string): { id: string; caller: Caller } {
  const { app } = core;
  const id = newId();
  const key = app.registry.key({ organizationId: id, permissions: CORE_PERMISSIONS, tenant });
  return { id, caller: app.with(key) };
}

describe('imports that wait', () => {
  it('are thirty of a tenant at most, however many organizations it founds, and another tenant is not concerned', async () => {
    const tenant = newId();
    const first = aChildOf(tenant);
    expectStatus(await send(first.caller, FILE), 202);
    for (let child = 0; child < 3; child += 1) await waiting(newId(), child < 2 ? 10 : 9, { tenant });
    const refused = await send(aChildOf(tenant).caller, FILE);
    expect(expectProblem(refused, 409, 'limit_reached')['limit']).toBe(30);
    expectStatus(await send(aChildOf(newId()).caller, FILE), 202);
    await core.database.query(`UPDATE imports SET state = 'completed' WHERE organization_id = $1`, [
      first.id,
    ]);
    expectStatus(await send(aChildOf(tenant).caller, FILE), 202);
  });

  it('have files of 6 GiB together of a tenant', async () => {
    const tenant = newId();
    for (const bytes of [2 * GIB, 2 * GIB, 2 * GIB - FILE.length])
      await waiting(newId(), 1, { bytes, tenant });
    const { caller } = aChildOf(tenant);
    expectProblem(await send(caller, `${FILE}a-2,,Two\n`), 409, 'limit_reached');
    expectStatus(await send(caller, FILE), 202);
    expectProblem(await send(caller, FILE), 409, 'limit_reached');
  });

  it('are ten of an organization at most, however many come at once; those that ended count no more', async () => {
    const { id, caller } = core.anOrganization();
    await waiting(id, 9);
    await waiting(id, 5, { state: 'completed' });
    const answers = await Promise.all([send(caller, FILE), send(caller, FILE)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    const before = await readdir(folder.path);
    const refused = await send(caller, FILE);
    expect(expectProblem(refused, 409, 'limit_reached')['limit']).toBe(10);
    expect(await readdir(folder.path)).toEqual(before);
    expectStatus(await send(core.anOrganization().caller, FILE), 202);
  });

  it('have files of 2 GiB together', async () => {
    const { id, caller } = core.anOrganization();
    await waiting(id, 1, { bytes: 2 * GIB - FILE.length });
    const before = await readdir(folder.path);
    expectProblem(await send(caller, `${FILE}a-2,,Two\n`), 409, 'limit_reached');
    expect(await readdir(folder.path)).toEqual(before);
    expectStatus(await send(caller, FILE), 202);
  });
});

it('503 dependency_unavailable where the disk is full, and nothing is left of the file', async () => {
  const { caller } = core.anOrganization();
  const files = core.app.app.get(ImportFiles, { strict: false });
  const create = files.create.bind(files);
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const spy = jest.spyOn(files, 'create').mockImplementation(async (organizationId, id) => {
    const file = await create(organizationId, id);
    jest.spyOn(file, 'finish').mockRejectedValue(full);
    return file;
  });
  const before = await readdir(folder.path);
  expectProblem(await send(caller, FILE), 503, 'dependency_unavailable');
  expect(await readdir(folder.path)).toEqual(before);
  spy.mockRestore();
  expectStatus(await send(caller, FILE), 202);
});

it('errors of an import are kept for 90 days from its end', async () => {
  const { id: organizationId, caller } = core.anOrganization();
  const taken = await Promise.all([send(caller, FILE), send(caller, FILE)]);
  const [old, recent] = taken.map(({ body }) => body.id);
  const open = (await send(caller, FILE)).body.id;
  await core.database.query(
    `UPDATE imports SET errors = 1, failed_rows = 1, state = 'completed', ended_at = now() - interval '90 days' -
            CASE WHEN id = $2 THEN interval '1 minute' ELSE interval '-1 minute' END
      WHERE organization_id = $1 AND id <> $3`,
    [organizationId, old, open],
  );
  await core.database.query('UPDATE imports SET errors = 1 WHERE id = $1', [open]);
  await core.database.query(
    `INSERT INTO import_errors (organization_id, import_id, place, line, code, subjects)
     SELECT organization_id, id, 1, 2, 'required', '{}' FROM imports WHERE organization_id = $1`,
    [organizationId],
  );
  const database = core.app.app.get(Database, { strict: false });
  await new Retention(database, new Clock(), OLD_IMPORT_ERRORS).sweep();
  const left = await core.database.query<{ id: string }>(
    'SELECT import_id AS id FROM import_errors WHERE organization_id = $1',
    [organizationId],
  );
  expect(left.map(({ id }) => id).sort()).toEqual([recent, open].sort());
  const read = await caller.get<ImportDto>(`${IMPORTS}/${old ?? ''}`);
  expect(read.body).toMatchObject({ rows: { failed: 1 }, errors: { data: [] } });
});
