import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication } from '@nestjs/common';
import { metrics } from '@customer-platform/http';
import { aBus, aDatabase, anIsolatedKafka, consentOf, eventually, inOrganization } from '../../test/a-bus.js';
import { OnEvent } from '../on-event.decorator.js';
import { Outbox } from '../outbox/outbox.js';
import { RecordProducer } from '../producing/record.producer.js';

@Controller()
class Mistaken {
  @OnEvent('core.consent.recorded.v1')
  take(): Promise<void> {
    return Promise.reject(new TypeError('a mistake'));
  }
}

let database: Awaited<ReturnType<typeof aDatabase>>;
let app: INestApplication;
beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([Mistaken]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('events_parked', () => {
  it('tells what waits with its organization, consumer and type, for as long as it waits', async () => {
    const [organizationId, key] = [randomUUID(), randomUUID()];
    const event = consentOf(organizationId, key, 'marketing');
    const unreadable = { organizationid: organizationId.toUpperCase(), type: event.type, data: event.data };
    const waits = async (consumer: string): Promise<boolean> =>
      (await metrics.metrics()).includes(
        `events_parked{organization_id="${organizationId}",consumer="${consumer}",type="${event.type}"} 1\n`,
      );
    await inOrganization(app, organizationId, (tx) => app.get(Outbox).append(tx, event));
    // A broker that is busy may acknowledge too late: it is sent once more, and still waits as one.
    await eventually(() =>
      app.get(RecordProducer).send('core.domain-events', { key, value: JSON.stringify(unreadable) }),
    );
    await eventually(async () => {
      expect(await waits('core.domain-events/Mistaken')).toBe(true);
      // Nobody could read it: it waits for all consumers of the module, and in the organization that it names.
      expect(await waits('core.domain-events')).toBe(true);
    });
    await inOrganization(app, organizationId, (tx) => tx.query('DELETE FROM parked_events'));
    expect(await metrics.metrics()).not.toContain(organizationId);
  });
});
