import { jest } from '@jest/globals';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, newId } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { DatabaseFault, expectStatus, type Caller } from '@customer-platform/testing';
import { CORE_PERMISSIONS, startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { ImportFiles } from '../files/import-files.js';
import { aFolder, IMPORTS, lines, send } from '../import.fixture.js';
import type { ImportDto } from '../import.dto.js';
import { IMPORT_COLUMNS, type ImportTableRow } from '../import.row.js';
import { ImportPiece } from './import-piece.js';
import { ImportRunner } from './import-runner.js';
import { ImportSignal } from './import.signal.js';

const MINUTE = 60_000;

let core: TestCore;
let folder: Awaited<ReturnType<typeof aFolder>>;
beforeAll(async () => {
  folder = await aFolder();
  // Nothing is carried out by itself.
  core = await startCore({ IMPORT_DIRECTORY: folder.path, PROCESS_ROLE: 'api' });
}, START_MS);
afterAll(async () => {
  await core.close();
  await folder.remove();
});
// Whose turn it is depends on all that are open.
afterEach(() =>
  core.database.query(`UPDATE imports SET state = 'failed' WHERE state IN ('queued', 'running')`),
);

async function taken(caller: Caller, rows: readonly string[]): Promise<ImportDto> {
  const answer = await send(caller, lines('id,mail,name', ...rows));
  expectStatus(answer, 202);
  return answer.body;
}

const read = async (caller: Caller, { id }: { id: string }): Promise<ImportDto> =>
  (await caller.get<ImportDto>(`${IMPORTS}/${id}`)).body;

/** A process: `step` does what it would do next, and time passes for it as it is told. */
function aProcess(given: { pieces?: Pick<ImportPiece, 'run' | 'passOver'> } = {}) {
  const { app } = core.app;
  let ahead = 0;
  const clock: Clock = { now: () => new Date(Date.now() + ahead) };
  const runner = new ImportRunner(
    app.get(Database, { strict: false }),
    app.get(ImportFiles, { strict: false }),
    (given.pieces as ImportPiece | undefined) ?? app.get(ImportPiece, { strict: false }),
    app.get(Outbox, { strict: false }),
    app.get(Audit, { strict: false }),
    app.get(ImportSignal, { strict: false }),
    clock,
  );
  return {
    runner,
    step: () => runner['runNext'](),
    wait: (minutes: number) => {
      ahead += minutes * MINUTE;
    },
  };
}

describe('a row that the database refuses', () => {
  it('is passed over alone, also where two processes find it out', async () => {
    const { caller } = core.anOrganization();
    const one = await taken(caller, ['p-1,,One', 'p-2,,poison', 'p-3,,Three']);
    const fault = await DatabaseFault.in(core.database, {
      table: 'contacts',
      on: 'INSERT',
      when: `NEW.first_name = 'poison'`,
    });
    const [first, second] = [aProcess(), aProcess()];
    const waited = (): void => [first, second].forEach(({ wait }) => wait(10));
    // Each loses the piece; then one does the row before, and each finds that the second fails alone.
    await first.step();
    await second.step();
    waited();
    await first.step();
    await first.step();
    await second.step();
    expect((await read(caller, one)).rows).toMatchObject({ total: 1, created: 1 });
    waited();
    await second.step();
    expect((await read(caller, one)).rows).toMatchObject({ total: 2, failed: 1 });
    // The row that is now the next was never tried by the first.
    await first.step();
    expect((await read(caller, one)).rows).toMatchObject({ total: 3, created: 2, failed: 1 });
    await fault.mend();
  });

  it.each(['42P01', '42501', '53100'])('waits where %s says nothing of its values', async (code) => {
    const { caller } = core.anOrganization();
    const one = await taken(caller, ['q-1,,One']);
    const fault = await DatabaseFault.in(core.database, {
      table: 'contacts',
      on: 'INSERT',
      when: 'true',
      code,
    });
    const { step, wait } = aProcess();
    for (let time = 0; time < 4; time += 1) {
      await Promise.allSettled([step()]);
      wait(10);
    }
    expect((await read(caller, one)).rows.total).toBe(0);
    await fault.mend();
    await step();
    expect(await read(caller, one)).toMatchObject({ state: 'completed', rows: { created: 1, failed: 0 } });
  });

  it('waits where the fault is not of the database', async () => {
    const { caller } = core.anOrganization();
    const one = await taken(caller, ['r-1,,One']);
    const passOver = jest.fn<ImportPiece['passOver']>();
    const run = jest.fn<ImportPiece['run']>().mockRejectedValue(new TypeError('a defect'));
    const { step, wait } = aProcess({ pieces: { run, passOver } });
    for (let time = 0; time < 4; time += 1) {
      await step();
      wait(10);
    }
    expect(run).toHaveBeenCalledTimes(4);
    expect(passOver).not.toHaveBeenCalled();
    expect((await read(caller, one)).rows.total).toBe(0);
  });
});

describe('a national number', () => {
  const mapping = { id: 'external_id', land: 'country', phone: 'phone' };

  it('is that of the country which an earlier row of its piece has said', async () => {
    const { caller } = core.anOrganization();
    const takes = await send(caller, lines('id,land,phone', 'n-1,CL,', 'n-1,,912345678'), { mapping });
    expectStatus(takes, 202);
    const { step } = aProcess();
    await step();
    // Another contact's by now: whoever says it again is told so, and the rows after go on.
    const again = await send(caller, lines('id,land,phone', 'n-2,CL,', 'n-2,,912345678', 'n-3,,'), {
      mapping,
    });
    expectStatus(again, 202);
    await step();
    expect(await read(caller, takes.body)).toMatchObject({ rows: { created: 1, updated: 1 } });
    expect(await read(caller, again.body)).toMatchObject({
      state: 'completed',
      rows: { total: 3, created: 2, failed: 1 },
    });
  });
});

describe('a row that is never done', () => {
  it.each([
    ['it loses every race', { instead: 'RETURN NULL;' }],
    ['it always runs out of time', { code: '57014' }],
  ])('is passed over where %s, and the other files come to their turn', async (_, effect) => {
    const { id: organizationId, caller } = core.anOrganization();
    const one = await taken(caller, ['o-1,,One', 'o-2,,Two', 'o-3,,Three']);
    const later = await taken(caller, ['o-4,,Four']);
    const fault = await DatabaseFault.in(core.database, {
      table: 'identities',
      on: 'INSERT',
      when: `NEW.organization_id = '${organizationId}' AND NEW.normal_value = 'o-2'`,
      ...effect,
    });
    const { step, wait } = aProcess();
    for (let steps = 0; steps < 12; steps += 1) {
      await Promise.allSettled([step()]);
      wait(10);
    }
    expect(await read(caller, one)).toMatchObject({ state: 'completed', rows: { created: 2, failed: 1 } });
    expect(await read(caller, later)).toMatchObject({ state: 'completed', rows: { created: 1 } });
    await fault.mend();
  });
});

describe('turns', () => {
  it('are of an organization those of its oldest file, also while that cannot go on', async () => {
    const [{ caller }, other] = [core.anOrganization(), core.anOrganization()];
    const oldest = await taken(caller, ['s-1,,One']);
    const later = await taken(caller, ['s-2,,Two']);
    const theirs = await taken(other.caller, ['s-1,,One']);
    const fault = await DatabaseFault.in(core.database, {
      table: 'contacts',
      on: 'INSERT',
      when: `NEW.external_id = 's-1' AND NEW.organization_id <> '${other.id}'`,
      code: '42P01',
    });
    const { step, wait } = aProcess();
    // One that does not wait of itself finds the other organization's next.
    await step();
    await aProcess().step();
    expect(await read(other.caller, theirs)).toMatchObject({ state: 'completed' });
    await step();
    expect(await read(caller, later)).toMatchObject({ state: 'queued' });
    await fault.mend();
    wait(10);
    await step();
    await step();
    expect(await read(caller, oldest)).toMatchObject({ state: 'completed' });
    expect(await read(caller, later)).toMatchObject({ state: 'completed' });
  });
});

describe('an import', () => {
  it('ends once', async () => {
    const { id: organizationId, caller } = core.anOrganization();
    const one = await taken(caller, ['t-1,,One']);
    const [row] = await core.database.query<ImportTableRow>(
      `SELECT ${IMPORT_COLUMNS} FROM imports WHERE id = $1`,
      [one.id],
    );
    if (!row) throw new Error('There is no such import');
    const { runner } = aProcess();
    const database = core.app.app.get(Database, { strict: false });
    const end = (given: ImportTableRow): Promise<void> =>
      database.acrossOrganizations(async (tx) => {
        await tx.useOrganization(organizationId);
        await runner['end'](tx, given, 'failed');
      });
    // One that another has moved meanwhile goes on.
    await end({ ...row, position: '1' });
    expect(await read(caller, one)).toMatchObject({ state: 'queued' });
    const append = jest.spyOn(core.app.app.get(Outbox, { strict: false }), 'append');
    await end(row);
    await end(row);
    const told = append.mock.calls.flatMap(([, events]) => [events].flat());
    append.mockRestore();
    expect(told.filter(({ type }) => type === 'core.import.completed.v1')).toHaveLength(1);
  });

  it('waits an hour for its file from when it was missed, however long it stood before', async () => {
    const { caller } = core.anOrganization();
    const one = await taken(caller, ['v-1,,One']);
    await core.database.query(`UPDATE imports SET updated_at = updated_at - interval '1 day' WHERE id = $1`, [
      one.id,
    ]);
    await core.app.app.get(ImportFiles, { strict: false }).remove(one.id);
    const { step, wait } = aProcess();
    for (const minutes of [0, 30, 29]) {
      wait(minutes);
      await step();
      expect(await read(caller, one)).toMatchObject({ state: 'queued' });
    }
    wait(2);
    await step();
    expect(await read(caller, one)).toMatchObject({ state: 'failed', failure_code: 'file_unavailable' });
  });
});

describe('a piece', () => {
  it('ends before it would record more consents than it may', async () => {
    const { caller } = core.anOrganization();
    const purposes = Array.from({ length: 300 }, (_, at) => `custom.p${at}`);
    const mapping = {
      id: 'external_id',
      notice: 'consents.notice_version',
      ...Object.fromEntries(purposes.map((purpose) => [purpose, `consents.${purpose}`])),
    };
    const rows = Array.from(
      { length: 40 },
      (_, at) => `w-${at},v1,${purposes.map(() => 'granted').join(',')}`,
    );
    const answer = await send(caller, lines(['id', 'notice', ...purposes].join(','), ...rows), { mapping });
    expectStatus(answer, 202);
    const consents = async (): Promise<number> => {
      const [row] = await core.database.query<{ consents: number }>(
        `SELECT count(*)::int AS consents FROM consent_events WHERE purpose LIKE 'custom.p%'`,
      );
      return row?.consents ?? NaN;
    };
    const { step } = aProcess();
    const counts = [0];
    do {
      await step();
      counts.push(await consents());
    } while (counts.length < 10 && counts.at(-1) !== 12_000);
    const pieces = counts.slice(1).map((count, at) => count - (counts[at] ?? 0));
    expect(Math.max(...pieces)).toBeLessThanOrEqual(5_000);
    // Nor is it cut into many.
    expect(pieces).toHaveLength(3);
    expect(await read(caller, answer.body)).toMatchObject({ state: 'completed', rows: { created: 40 } });
  });

  it('that was read ahead counts only where the import has come to it', async () => {
    const { caller } = core.anOrganization();
    const rows = Array.from({ length: 3_500 }, (_, at) => `x-${at},x${at}@example.com,One`);
    const one = await taken(caller, rows);
    const { step } = aProcess();
    await step();
    // From here on what follows is read ahead.
    await step();
    const [before] = await core.database.query<{ position: string; line: number }>(
      'SELECT position, line FROM imports WHERE id = $1',
      [one.id],
    );
    await aProcess().step();
    // Somebody goes back: what is known of the place behind is of no use.
    await core.database.query('UPDATE imports SET position = $2, line = $3 WHERE id = $1', [
      one.id,
      before?.position,
      before?.line,
    ]);
    for (let pieces = 0; pieces < 2; pieces += 1) await step();
    const done = await read(caller, one);
    expect(done).toMatchObject({ state: 'completed', rows: { created: 3_500, unchanged: 1_000, failed: 0 } });
  });

  it('ends where it has read enough, also of blank lines alone', async () => {
    const block = Buffer.alloc(1024 * 1024, '\n');
    const files = {
      async *read() {
        for (let count = 0; count < 6; count += 1) yield await Promise.resolve(block);
      },
    };
    const none = undefined as never;
    const piece = new ImportPiece(files as unknown as ImportFiles, none, none, none);
    const row = {
      organization_id: newId(),
      id: newId(),
      options: { format: 'csv', delimiter: ',' },
      position: '3',
      line: 2,
      file_key: 'key',
      file_bytes: String(6 * block.length + 3),
    } as ImportTableRow;
    const done = await piece.passOver(row);
    const read = 4 * block.length;
    expect(done).toMatchObject({ ended: false, errors: [], next: { at: 3 + read, line: 2 + read } });
    expect(done.tally).toMatchObject({ failed: 0 });
  });
});

it('gives tenants turns, and in a tenant its organizations, however many one of them has founded', async () => {
  const imported: [caller: Caller, import: ImportDto][] = [];
  const below = async (tenant: string, imports: number): Promise<void> => {
    const key = { organizationId: newId(), permissions: CORE_PERMISSIONS, tenant };
    const caller = core.app.with(core.app.registry.key(key));
    for (let each = 0; each < imports; each += 1)
      imported.push([caller, await taken(caller, [`t-${String(each)},,Ana`])]);
  };
  const [tenant, neighbour] = [newId(), newId()];
  await below(tenant, 2);
  await below(tenant, 1);
  await below(tenant, 1);
  await below(neighbour, 2);
  const { step } = aProcess();
  const order: number[] = [];
  for (let done = 0; done < imported.length; done += 1) {
    await step();
    const states = await Promise.all(imported.map(async ([caller, one]) => (await read(caller, one)).state));
    order.push(...states.flatMap((state, at) => (state === 'completed' && !order.includes(at) ? [at] : [])));
  }
  expect(order).toEqual([0, 4, 2, 5, 3, 1]);
});
