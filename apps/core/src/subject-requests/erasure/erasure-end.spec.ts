import { DatabaseFault, kafkaProbe } from '@customer-platform/testing';
import { START_MS } from '../../core.fixture.js';
import { ErasureWorld } from '../subject-request.fixture.js';

let world: ErasureWorld;
beforeAll(async () => {
  world = await ErasureWorld.start();
}, START_MS);
afterAll(() => world.close());

describe('an erasure whose end is broken off', () => {
  it('is completed once, by four receipts', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const { database } = world.contacts.core;
    const probe = kafkaProbe(world.contacts.core.app);
    probe.collect('core');
    const contact = await world.contacts.created(caller);
    const ofThis = `NEW.organization_id = '${organizationId}'`;
    const broken = [
      ['subject_request_receipts', 'INSERT', `NEW.module = 'core'`],
      ['subject_request_receipts', 'UPDATE', `NEW.module = 'loyalty' AND NEW.state = 'verified'`],
      ['subject_requests', 'UPDATE', `NEW.state = 'completed'`],
      ['contact_erasures', 'UPDATE', `NEW.step = 'done'`],
    ] as const;
    const faults = await Promise.all(
      broken.map(([table, on, when]) =>
        DatabaseFault.in(database, { table, on, when: `${ofThis} AND ${when}`, times: 1 }),
      ),
    );
    const request = await world.erase(caller, { contact_id: contact.id });
    await world.doneByCore(caller, request);
    await world.answerAll(organizationId, request.id);
    const done = await world.inState(caller, request, 'completed');
    for (const fault of faults) expect(await fault.tries()).toBeGreaterThan(1);
    await Promise.all(faults.map((fault) => fault.mend()));
    expect(done.receipts.map(({ module, state }) => [module, state])).toEqual(
      ['core', 'crm', 'loyalty', 'messaging'].map((module) => [module, 'verified']),
    );
    await world.answerAll(organizationId, request.id);
    expect(await probe.expectEvents('core.subject_request.completed.v1', organizationId, 1)).toHaveLength(1);
    expect(await probe.expectEvents('core.contact.erased.v1', organizationId, 1)).toHaveLength(1);
    const again = await world.read(caller, request);
    expect(again).toEqual(done);
  }, 90_000);
});
