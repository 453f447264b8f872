import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { ACTIVITIES, ActivityWorld, TYPES } from '../activities/activities.fixture.js';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ActivityTypesService } from './activity-types.service.js';

let crm: TestCrm;
let world: ActivityWorld;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  world = new ActivityWorld(crm);
});

/** Waits until so many transactions wait for locks. */
const waiting = (count: number): Promise<void> =>
  eventually(async () => {
    const rows = await crm.database.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rows).toHaveLength(count);
  });

/** Somebody writes an activity of the type until `meanwhile` is over. */
async function besideWriter(typeId: string, meanwhile: () => Promise<void>): Promise<void> {
  const { app } = crm.app;
  const [kept, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const context = { organizationId: world.organizationId } as RequestContext;
  const writing = app.get(Database).inOrganization(context, async (tx) => {
    await app.get(ActivityTypesService).keep(context, tx, typeId);
    kept.resolve();
    await over.promise;
  });
  await kept.promise;
  try {
    await meanwhile();
  } finally {
    over.resolve();
    await writing;
  }
}

describe('a change of an activity type', () => {
  it('comes to its turn though activities of the type keep being written', async () => {
    const type = await world.type({ fields: [{ key: 'place', type: 'string' }] });
    const body = await world.body({ type_id: type.id });
    const both: Promise<unknown>[] = [];
    await besideWriter(type.id, async () => {
      const changing = world.caller.patch(`${TYPES}/${type.id}`, { fields: [] });
      both.push(changing.then((answer) => expectStatus(answer, 200)));
      await waiting(1);
      // It does not pass the one that waits.
      both.push(world.caller.post(ACTIVITIES, body).then((answer) => expectStatus(answer, 201)));
      await waiting(2);
    });
    await Promise.all(both);
  });

  it('is refused for an activity that was written while the others were counted', async () => {
    const type = await world.type({
      fields: [{ key: 'place', type: 'string' }],
      outcomes: [{ key: 'sold' }],
    });
    await world.activity({ type_id: type.id });
    await besideWriter(type.id, async () => {
      const late = await world.activity({ type_id: type.id, values: { place: 'here' } });
      expect(late.values).toMatchObject({ place: 'here' });
    });
    const answer = await world.caller.patch(`${TYPES}/${type.id}`, { fields: [] });
    expect(expectProblem(answer, 409, 'field_in_use')).toMatchObject({ field: 'place', count: 1 });
  });
});
