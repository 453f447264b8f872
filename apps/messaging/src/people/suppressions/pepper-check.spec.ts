import { expectStatus, startTestApp } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { MessagingModule } from '../../messaging.module.js';

const SUPPRESSIONS = '/v1/messaging/suppressions';
const [former, next] = ['a former pepper, long enough to be one', 'the next pepper, long enough to be one'];

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false, env: { ADDRESS_PEPPERS: former } });
});
afterAll(() => world.close());

/** Another process of messaging, on the same database. */
const aProcess = (ADDRESS_PEPPERS: string) =>
  startTestApp({
    module: 'messaging',
    root: MessagingModule,
    database: world.database,
    registry: world.app.registry,
    env: { SMTP_URL: world.mail.url, ADDRESS_PEPPERS },
  });

it('a pepper that a row uses stays live: behind the next one it matches, without it nothing starts', async () => {
  const { api, id } = world.organization();
  const suppression = { channel: 'email', address: 'gone@example.org', reason: 'manual' };
  const first = await api.post(SUPPRESSIONS, suppression);
  expectStatus(first, 201);
  await expect(aProcess(next)).rejects.toThrow('ADDRESS_PEPPERS lacks a pepper');
  const rotated = await aProcess(`${next},${former}`);
  try {
    const again = await rotated.as(id, ['messaging.suppressions.create']).post(SUPPRESSIONS, suppression);
    expect(again).toMatchObject({ status: 200, body: first.body });
  } finally {
    await rotated.close();
  }
});
