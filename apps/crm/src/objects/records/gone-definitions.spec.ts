import { expectProblem, expectStatus } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { DEFINITIONS, ObjectWorld } from '../objects.fixture.js';

/** Refused whatever the definition says. */
const WRONG = { nowhere: 1 };

let crm: TestCrm;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  world = new ObjectWorld(crm);
});

/** A definition of another process's doing: this one, which knows it, is not told. */
async function deleted(id: string): Promise<void> {
  expectStatus(await world.caller.delete(`${DEFINITIONS}/${id}`), 204);
}

describe('a definition that has gone since this process knew it', () => {
  it('deleted: what a former revision refuses is 404 by its slug, and 409 by its id', async () => {
    const { id } = await world.define('vehicle');
    const record = await world.add('vehicle', {});
    await deleted(id);
    expectProblem(await world.post('vehicle', WRONG), 404, 'not_found');
    expectProblem(await world.patch('vehicle', record, WRONG), 404, 'not_found');
    expectProblem(await world.post(id, WRONG), 409, 'definition_deleted');
    expectProblem(await world.patch(id, record, WRONG), 409, 'definition_deleted');
  });

  it('purged: what a former revision refuses is 404 by its slug and by its id', async () => {
    const { id } = await world.define('vehicle');
    expectProblem(await world.post('vehicle', WRONG), 400, 'validation_failed');
    await deleted(id);
    expectStatus(await world.caller.delete(`${DEFINITIONS}/${id}/purge`), 204);
    expectProblem(await world.post('vehicle', WRONG), 404, 'not_found');
    expectProblem(await world.post(id, WRONG), 404, 'not_found');
  });

  it('deleted, and read by its id: its slug names nothing, to a DELETE as to a POST', async () => {
    const { id } = await world.define('vehicle');
    const record = await world.add('vehicle', {});
    await deleted(id);
    expectStatus(await world.get(id, record), 200);
    expectStatus(await world.delete(id, await world.get(id, record).then(({ body }) => body)), 204);
    expectProblem(await world.delete('vehicle', record, '/purge'), 404, 'not_found');
    expectProblem(await world.post('vehicle', {}), 404, 'not_found');
  });

  it('deleted, and its slug given to another: the slug is the other’s', async () => {
    const former = await world.define('vehicle');
    await world.add('vehicle', {});
    await deleted(former.id);
    const { id } = await world.define('vehicle', [{ key: 'plate', type: 'string' }]);
    const record = await world.add('vehicle', { plate: 'P1' });
    expectStatus(await world.get(id, record), 200);
  });
});
