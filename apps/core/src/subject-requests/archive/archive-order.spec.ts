import { Database, newId, SubjectRows, type SubjectPlace } from '@customer-platform/database';
import { merge } from '../../people/merges/merge.fixture.js';
import { START_MS } from '../../core.fixture.js';
import { ErasureWorld } from '../subject-request.fixture.js';
import { ask, remembered } from './archive.fixture.js';
import { SUBJECT_TABLES } from './subject-tables.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('an archive of contacts that were merged a moment ago', () => {
  it('asks for each before whom it was merged into', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const [survivor, between, first] = [
      await world.contacts.created(caller),
      await world.contacts.created(caller),
      await world.contacts.created(caller),
    ];
    await merge(caller, between, first);
    await merge(caller, survivor, between);
    await ask(caller, { contact_id: first.id });
    const rows = await world.contacts.query(
      'SELECT contact_ids FROM subject_archives WHERE organization_id = $1',
      [organizationId],
    );
    expect(rows).toEqual([{ contact_ids: [first.id, between.id, survivor.id] }]);
  }, 60_000);

  it('misses no row of a module that hears of the merge while it is asked', async () => {
    const { id: organizationId } = world.contacts.anOrganization();
    const [survivor = '', merged = ''] = [newId(), newId()].sort();
    for (const contactId of [survivor, merged]) await remembered(world, organizationId, contactId, 1);
    const tables = SUBJECT_TABLES.filter(({ resource }) => resource === 'events');
    const rows = new SubjectRows(world.contacts.core.app.app.get(Database), tables);
    const found = new Set<string>();
    let after: SubjectPlace | null | undefined;
    while (after !== null) {
      const question = { organizationId, contactIds: [merged, survivor], portable: false };
      const page = await rows.page({ ...question, ...(after && { after }) });
      for (const row of page.rows) found.add((JSON.parse(row) as { id: string }).id);
      await world.contacts.query(
        'UPDATE events SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
        [organizationId, merged, survivor],
      );
      after = page.next;
    }
    expect(found.size).toBe(2);
  }, 60_000);
});
