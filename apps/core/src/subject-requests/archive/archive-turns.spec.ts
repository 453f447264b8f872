import { Clock, Database, newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { aContact, CONTACTS } from '../../people/contacts/contact.fixture.js';
import { CORE_PERMISSIONS, startCore, START_MS, type TestCore } from '../../core.fixture.js';
import type { ArchiveGatherer } from './archive-gatherer.js';
import { ArchiveRunner } from './archive-runner.js';
import type { ArchiveRow } from './archive-row.js';
import { ArchiveWriter } from './archive-writer.js';
import { ArchiveSignal } from './archive.signal.js';
import { ask } from './archive.fixture.js';

let core: TestCore;
beforeAll(async () => {
  // Nothing is gathered by itself.
  core = await startCore({ PROCESS_ROLE: 'api' });
}, START_MS);
afterAll(() => core.close());

/** Asks for an archive of so many persons of an organization below this tenant. @returns the organization */
async function asked(tenant: string, archives: number): Promise<string> {
  const organizationId = newId();
  const key = { organizationId, permissions: CORE_PERMISSIONS, tenant };
  const caller = core.app.with(core.app.registry.key(key));
  for (let each = 0; each < archives; each += 1) {
    const contact = await caller.post<{ id: string }>(CONTACTS, aContact());
    expectStatus(contact, 201);
    await ask(caller, { contact_id: contact.body.id });
  }
  return organizationId;
}

it('of tenants take turns, however many organizations one of them has founded', async () => {
  const [tenant, neighbour] = [newId(), newId()];
  const children = [await asked(tenant, 2), await asked(tenant, 1), await asked(tenant, 1)];
  const other = await asked(neighbour, 2);
  const gathered: string[] = [];
  const get = <T>(token: new (...all: never[]) => T): T => core.app.app.get<T>(token, { strict: false });
  const gatherer = {
    takePage: async ({ organization_id: id, subject_request_id: request }: ArchiveRow) => {
      gathered.push(id);
      await core.database.query(
        `UPDATE subject_archives SET claimed_until = now() - interval '1 s', step = 'ready' WHERE subject_request_id = $1`,
        [request],
      );
    },
  };
  const runner = new ArchiveRunner(
    get(Database),
    gatherer as unknown as ArchiveGatherer,
    get(ArchiveWriter),
    get(ArchiveSignal),
    get(Clock),
  );
  while (await runner['runNext']());
  const [first, second, third] = children;
  expect(gathered).toEqual([first, other, second, other, third, first]);
});
