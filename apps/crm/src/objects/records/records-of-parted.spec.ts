import { newId } from '@customer-platform/database';
import {
  domainEvent,
  eventually,
  expectStatus,
  type KafkaProbe,
  kafkaProbe,
} from '@customer-platform/testing';
import { ContactRefsConsumer } from '../../contact-refs/contact-refs.consumer.js';
import { startCrm, type TestCrm } from '../../crm.fixture.js';
import { ObjectWorld } from '../objects.fixture.js';

let crm: TestCrm;
let probe: KafkaProbe;
let world: ObjectWorld;
beforeAll(async () => {
  crm = await startCrm({ events: true });
  probe = kafkaProbe(crm.app);
  probe.collect('crm');
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  world = new ObjectWorld(crm);
});

const OWNER = { key: 'owner', type: 'reference', target: 'contact', indexed: true };

describe('the erasure of a contact that was parted from another', () => {
  it('heard of before the undo takes what the other still has, and counts it', async () => {
    const [survivor = '', merged = '', stays = ''] = await world.contacts(3);
    await world.define('vehicle', [OWNER]);
    const [kept, inner] = [
      await world.add('vehicle', { owner: survivor }),
      await world.add('vehicle', { owner: stays }),
    ];
    await world.add('vehicle', { owner: merged });
    await world.merge(merged, stays);
    await world.merge(survivor, merged);
    const contact_ids = [merged];
    const request = { subject_request_id: newId(), contact_id: merged, contact_ids };
    await crm.app.app
      .get(ContactRefsConsumer)
      .erase([domainEvent('core.erasure.requested.v1', world.organizationId, request)]);
    const [completed] = await probe.expectEvents('crm.erasure.completed.v1', world.organizationId, 1);
    expect(completed?.data).toMatchObject({ counts: { objects: 1 } });
    for (const record of [kept, inner]) expectStatus(await world.get('vehicle', record), 200);
    const left = await crm.database.query(
      'SELECT record_id AS id FROM object_references WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([kept.id, inner.id]));
  });

  it('whose undo was parked gives back what is theirs to whom it was parted from', async () => {
    const [erased = '', parted = ''] = await world.contacts(2);
    await world.define('vehicle', [OWNER]);
    const theirs = await world.add('vehicle', { owner: parted });
    await world.add('vehicle', { owner: erased });
    await world.merge(erased, parted);
    const request = { subject_request_id: newId(), contact_id: erased, contact_ids: [erased] };
    await crm.app.app
      .get(ContactRefsConsumer)
      .erase([domainEvent('core.erasure.requested.v1', world.organizationId, request)]);
    const [completed] = await probe.expectEvents('crm.erasure.completed.v1', world.organizationId, 1);
    expect(completed?.data).toMatchObject({ counts: { objects: 1 } });
    await eventually(async () =>
      expect((await world.get('vehicle', theirs)).body).toMatchObject({ values: { owner: parted } }),
    );
  });
});
