import { expectStatus } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { aFolder, lines, send } from '../import.fixture.js';
import { ImportWatch } from './import-watch.js';

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

/** What the process shows now. */
async function shown(): Promise<{ open: number; still: number }> {
  const { app, url } = core.app;
  await app.get(ImportWatch, { strict: false }).look();
  const text = await (await fetch(`${url}/metrics`)).text();
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  return { open: valueOf('imports_open'), still: valueOf('import_longest_still_seconds') };
}

it('shows for how long the first import of an organization has not moved', async () => {
  const { caller } = core.anOrganization();
  expect(await shown()).toEqual({ open: 0, still: 0 });
  const taken = async (): Promise<string> => {
    const answer = await send(caller, lines('id,mail,name', 'a-1,,One'));
    expectStatus(answer, 202);
    return answer.body.id;
  };
  const [first, behind] = [await taken(), await taken()];
  const stoodFor = (id: string, hours: number): Promise<unknown> =>
    core.database.query(`UPDATE imports SET updated_at = now() - $2 * interval '1 h' WHERE id = $1`, [
      id,
      hours,
    ]);
  // What waits for an earlier one of its organization says nothing.
  await stoodFor(behind, 5);
  const fresh = await shown();
  expect(fresh.open).toBe(2);
  expect(fresh.still).toBeLessThan(3_600);
  await stoodFor(first, 3);
  expect((await shown()).still).toBeGreaterThanOrEqual(3 * 3_600);
  await core.database.query(`UPDATE imports SET state = 'failed' WHERE id = $1`, [first]);
  expect((await shown()).still).toBeGreaterThanOrEqual(5 * 3_600);
});
