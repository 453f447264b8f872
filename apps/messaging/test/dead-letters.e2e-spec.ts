import { jest } from '@jest/globals';
import { newId } from '@customer-platform/database';
import {
  anOrganization,
  eventually,
  startTestProcess,
  testDatabase,
  TestRegistry,
  type TestDatabase,
  type TestProcess,
} from '@customer-platform/testing';
import { MailSink } from '../src/mail-sink.fixture.js';
import { ALL_PERMISSIONS, aContact, template } from '../src/messaging.fixture.js';
import { migrations } from '../src/migrations/index.js';

jest.setTimeout(120_000);

describe('an event that messaging could not process', () => {
  const mail = new MailSink();
  let registry: TestRegistry;
  let database: TestDatabase;
  let service: TestProcess;
  beforeAll(async () => {
    await mail.start();
    registry = await TestRegistry.start();
    database = await testDatabase('messaging', migrations);
    service = await startTestProcess({
      module: 'messaging',
      registry,
      database,
      env: { SMTP_URL: mail.url },
    });
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([mail.stop(), registry.close()]);
    await database.drop();
  });

  const command = (...args: string[]): Promise<string> => service.command('events', 'dead-letters', ...args);

  it('is delivered again by the operator’s command, beside the running service, with one effect', async () => {
    const { id: organizationId } = anOrganization();
    const api = service.as(organizationId, ALL_PERMISSIONS);
    const contact = aContact();
    await database.query(
      `INSERT INTO contacts (organization_id, id, version, state, email, email_canonical)
       VALUES ($1, $2, 1, 'active', $3, $3)`,
      [organizationId, contact.id, contact.email],
    );
    const rule = await api.post('/v1/messaging/event-routing', {
      name: 'Receipts',
      event_type: 'core.event.recorded',
      event_name: 'invoice_paid',
      channel: 'email',
      template_id: await template(api),
    });
    expect(rule.status).toBe(201);
    const id = newId();
    const at = new Date().toISOString();
    const data = { event_id: id, contact_id: contact.id, external_id: null, event: 'invoice_paid' };
    const event = {
      specversion: '1.0',
      id,
      type: 'core.event.recorded.v1',
      source: 'urn:customer-platform:core',
      subject: contact.id,
      time: at,
      datacontenttype: 'application/json',
      organizationid: organizationId,
      correlationid: id,
      data: { ...data, occurred_at: at, received_at: at, properties: {} },
    };
    const park = (): Promise<unknown> =>
      database.query(
        `INSERT INTO parked_events
           (organization_id, id, consumer, topic, key, event_id, event_type, payload, error, attempts)
         VALUES ($1, $2, 'messaging.domain-events/EventsConsumer', 'core.domain-events', $3, $4, $5, $6,
           'TypeError: a mistake that has been put right', 3)`,
        [organizationId, newId(), contact.id, id, event.type, JSON.stringify(event)],
      );
    await park();
    expect(await command('list')).toMatch(/TypeError: a mistake that has been put right\n1 dead letters\n$/);
    expect(await command('redeliver', '--all')).toContain('1 delivered, 0 left');
    await eventually(() => expect(mail.to(contact.email)).toHaveLength(1), { within: 20_000 });

    // As if the command had died between the effect and its end.
    await park();
    expect(await command('redeliver', '--all')).toContain('1 delivered, 0 left');
    const { body } = await api.get<{ data: object[] }>(`/v1/messaging/sends?correlation_id=${id}`);
    expect(body.data).toEqual([expect.objectContaining({ contact_id: contact.id, source: 'routing' })]);
    expect(await command('list')).toBe('0 dead letters\n');
  });
});
