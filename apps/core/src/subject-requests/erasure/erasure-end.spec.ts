import { newId } from '@customer-platform/database';
import { DatabaseFault, eventually, kafkaProbe } from '@customer-platform/testing';
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

describe('an erasure that core does not know', () => {
  it('is told of: its receipt waits parked, as after a restore that lost the request', async () => {
    const { id: organizationId, caller } = world.contacts.anOrganization();
    const contact = await world.contacts.created(caller);
    const request = await world.erase(caller, { contact_id: contact.id });
    await world.doneByCore(caller, request);
    const lost = newId();
    const tell = kafkaProbe(world.contacts.core.app);
    const answers = await Promise.all(
      [lost, request.id].map(async (id) => ({
        type: 'crm.erasure.completed.v1' as const,
        organizationId,
        data: {
          subject_request_id: id,
          counts: { notes: 1 },
          receipt: await world.receipt(organizationId, id, 'crm'),
        },
      })),
    );
    await tell.publish(...answers);
    await eventually(
      async () => {
        const { receipts } = await world.read(caller, request);
        expect(receipts.find(({ module }) => module === 'crm')?.state).toBe('verified');
        const parked = await world.contacts.query(
          'SELECT DISTINCT event_type, error FROM parked_events WHERE organization_id = $1',
          [organizationId],
        );
        const error = `UnknownErasure: no request ${lost} is known here, and a module has carried it out`;
        expect(parked).toEqual([{ event_type: 'crm.erasure.completed.v1', error }]);
      },
      { within: 30_000 },
    );
  }, 90_000);
});
