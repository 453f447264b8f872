import { randomUUID } from 'node:crypto';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';

const SUPPRESSIONS = '/v1/messaging/suppressions';
const CONTENT: Readonly<Record<string, object>> = {
  email: { subject: 'x', text: 'y' },
  sms: { text: 'x' },
  whatsapp: { text: 'x' },
  push: { title: 'x', body: 'y' },
};

/** What was suppressed, every spelling of it that must not pass, and who is somebody else. */
const TABLE: readonly (readonly [
  channel: string,
  suppressed: string,
  spellings: readonly string[],
  others: readonly string[],
])[] = [
  [
    'email',
    'Ana@Bücher.example',
    ['ana@bücher.example', 'ANA@BÜCHER.EXAMPLE', 'ana@xn--bcher-kva.example', 'ana@XN--BCHER-KVA.Example'],
    ['ana@bucher.example', 'an.a@bücher.example'],
  ],
  [
    'email',
    'ana@example.com',
    [
      ...['ana+news@example.com', 'ANA+a+b@Example.com', 'Ana@ＥＸＡＭＰＬＥ.com', 'ana@example。com'],
      ...[' ana@example.com', 'ana@example.com ', 'an\u200ba@example.com'],
    ],
    ['ana@sub.example.com', 'anab@example.com'],
  ],
  [
    'sms',
    '+56 9 6123 4567',
    ['+56961234567', '+56 (9) 6123.4567', '+56-9-6123-4567', '+56\u00a0961234567'],
    ['+56961234568'],
  ],
  [
    'whatsapp',
    '+442071234567',
    ['+44 (0)20 7123 4567', '+44 20 7123 4567', '+44-20-7123-4567'],
    ['+442071234568'],
  ],
  ['push', 'fcm:AbC', ['fcm:AbC'], ['fcm:abc']],
];

describe('a suppressed address', () => {
  const provider = new Provider();
  let world: MessagingWorld;
  beforeAll(async () => {
    await provider.start();
    world = await messagingWorld({
      consume: false,
      env: {
        PROVIDER_URL: `${provider.url}/in`,
        PROVIDER_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      },
    });
  });
  afterAll(async () => {
    await world.close();
    await provider.stop();
  });

  const body = (channel: string, address: string, overrides: object = {}): Record<string, unknown> =>
    aSend({ channel, recipient: { address }, content: CONTENT[channel], ...overrides });

  it.each(TABLE)(
    'of %s, %s, passes in no spelling, before or after',
    async (channel, stopped, spellings, others) => {
      const { api } = world.organization();
      const later = { not_before: new Date(Date.now() + 3_600_000).toISOString() };
      const waiting = await Promise.all(spellings.map((address) => send(api, body(channel, address, later))));
      expect((await api.post(SUPPRESSIONS, { channel, address: stopped })).status).toBe(201);
      for (const address of spellings) {
        const answer = await api.post<{ code: string }>('/v1/messaging/sends', body(channel, address), {
          'idempotency-key': randomUUID(),
        });
        expect([address, answer.status, answer.body.code]).toEqual([address, 422, 'recipient_suppressed']);
      }
      // What was accepted before is stopped by the gate itself.
      await world.database.query('UPDATE sends SET due_at = now() WHERE id = ANY($1)', [waiting]);
      for (const id of waiting) expect(await settled(api, id, 'suppressed')).toMatchObject({ attempts: 0 });
      for (const address of others) await settled(api, await send(api, body(channel, address)), 'sent');
    },
  );

  it.each([
    ['email', 'ana @example.com'],
    ['email', '"ana"@example.com'],
    ['email', 'Ana <ana@example.com>'],
    ['email', 'ana@example.com,b@example.com'],
    ['email', 'ana@example.com\u0000'],
    ['sms', '961234567'],
    ['sms', '0056961234567'],
    ['sms', '+56961234567;ext=1'],
    ['push', 'fcm: AbC'],
  ])('of %s cannot be got around as %j: it is no address', async (channel, address) => {
    const { api } = world.organization();
    const answer = await api.post('/v1/messaging/sends', body(channel, address), {
      'idempotency-key': randomUUID(),
    });
    expect(answer.status).toBe(400);
  });
});
