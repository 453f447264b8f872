import { randomUUID } from 'node:crypto';
import { newId, ReferenceHolds } from '@customer-platform/database';
import { kafkaProbe, type KafkaProbe, type TestApp } from '@customer-platform/testing';
import {
  aLoyaltyWorld,
  aRecordedEvent,
  MARKERS,
  startLoyalty,
  type LoyaltyWorld,
} from '../loyalty.fixture.js';

let app: TestApp;
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

/** What core asks before it purges the contact. */
const asked = (contactId: string, holdId = newId()) =>
  app.app
    .get(ReferenceHolds)
    .countAndHold(
      { organizationId: world.organizationId, resource: 'core.contacts', id: contactId },
      holdId,
      10_000,
    );
const answer = (count: number) => [{ module: 'loyalty', resource: 'transactions', count }];

describe('a contact that core is about to purge', () => {
  it('is told of with its transactions; of another organization, and without any, with none', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const event = aRecordedEvent();
    await world.record(event);
    expect(await asked(event.contact_id)).toEqual(answer(1 + MARKERS));
    expect(await asked(randomUUID())).toEqual(answer(0));
    const elsewhere = { organizationId: newId(), resource: 'core.contacts', id: event.contact_id };
    expect(await app.app.get(ReferenceHolds).countAndHold(elsewhere, newId(), 10_000)).toEqual(answer(0));
  });

  it('earns nothing until core is done, and again when it was not purged', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [held, other] = [aRecordedEvent(), aRecordedEvent()];
    const holdId = newId();
    expect(await asked(held.contact_id, holdId)).toEqual(answer(0));
    await probe.publish(
      ...[held, other].map((data) => ({
        type: 'core.event.recorded.v1' as const,
        organizationId: world.organizationId,
        data,
      })),
    );
    // Whatever came before it on its own contact's partition has been taken when the marker earns.
    await world.record(other);
    await app.app.get(ReferenceHolds).release(world.organizationId, holdId);
    const later = aRecordedEvent({ contact_id: held.contact_id });
    await world.record(later);
    const own = await world.transactions(`contact_id=${held.contact_id}`);
    expect(own.map(({ event_id: id }) => id)).not.toContain(held.event_id);
    expect(own.map(({ event_id: id }) => id)).toContain(later.event_id);
  });
});
