import { randomUUID } from 'node:crypto';
import { connectEventBus } from '@customer-platform/event-bus';
import { newId } from '@customer-platform/database';
import {
  anOrganization,
  eventually,
  kafkaProbe,
  startTestApp,
  startTestProcess,
  testDatabase,
  TestRegistry,
} from '@customer-platform/testing';
import { MailSink } from '../src/mail-sink.fixture.js';
import { settled, type ShownSend } from '../src/messaging.fixture.js';
import { MessagingModule } from '../src/messaging.module.js';
import { migrations } from '../src/migrations/index.js';

const SETTLED = { within: 30_000 };

it('identity’s mail is held without a server of the platform’s, which the log says, and leaves once there is one', async () => {
  const database = await testDatabase('messaging', migrations);
  const registry = await TestRegistry.start();
  const mail = new MailSink();
  await mail.start();
  const organizationId = anOrganization().id;
  // It serves requests and consumes nothing: the processes beside it do.
  const app = await startTestApp({
    module: 'messaging',
    root: MessagingModule,
    database,
    registry,
    env: { PROCESS_ROLE: 'api' },
    connect: connectEventBus,
  });
  const api = app.as(organizationId, ['messaging.sends.read']);
  const [id, address] = [newId(), `${randomUUID()}@example.com`];
  registry.link(`invitation/${id}`, {
    address,
    link: `https://console.example/#token=${randomUUID()}`,
    organization_name: 'Tienda',
    platform_organization_id: newId(),
  });
  const start = (SMTP_URL: string) =>
    startTestProcess({ module: 'messaging', database, registry, env: { SMTP_URL, LOG_LEVEL: 'warn' } });

  const without = await start('');
  await kafkaProbe(app).publish({
    type: 'identity.invitation.created.v1',
    organizationId,
    data: { organization_id: organizationId, id, locale: 'en', generation: 1, expires_at: tomorrow() },
  });
  const held = await eventually(async () => {
    const { data } = (await api.get<{ data: ShownSend[] }>('/v1/messaging/sends')).body;
    expect(data.map(({ state, reason }) => [state, reason])).toEqual([['held', 'channel_not_configured']]);
    return data[0];
  }, SETTLED);
  expect(without.log()).toContain('PLATFORM_SMTP_URL is not set');
  await without.stop();

  const withOne = await start(mail.url);
  await settled(api, held?.id ?? '', 'sent');
  expect(mail.to(address)).toHaveLength(1);
  expect(withOne.log()).not.toContain('PLATFORM_SMTP_URL is not set');

  await withOne.stop();
  await app.close();
  await Promise.all([registry.close(), mail.stop()]);
  await database.drop();
});

function tomorrow(): string {
  return new Date(Date.now() + 86_400_000).toISOString();
}
