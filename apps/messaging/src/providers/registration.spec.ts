import { createHmac } from 'node:crypto';
import { Problem } from '@customer-platform/problem-json';
import { eventually } from '@customer-platform/testing';
import { z } from 'zod';
import { aSend, messagingWorld, send, settled, shown, type MessagingWorld } from '../messaging.fixture.js';
import { Provider as Server } from '../provider.fixture.js';
import { equalInConstantTime } from '../vocabulary/signatures/constant-time.js';
import { postRaw } from '../reports/webhooks/signed-calls.fixture.js';
import { fieldOf, idOf } from './answers.js';
import { defineProvider } from './provider.js';
import { ProviderRegistry } from './provider-registry.js';
import { anySecret, below, webAddress } from './setting-fields.js';
import { headerOf, secretOf } from './webhook.js';

const SETTINGS = '/v1/messaging/channel-settings';

/** A provider that nobody has heard of, in full: what docs/providers.md says is all there is to it. */
const pigeons = defineProvider({
  name: 'pigeons',
  channels: ['sms'],
  fields: { loft: z.string().max(40), base_url: webAddress.default('https://pigeons.example') },
  secrets: { whistle: anySecret },
  destinations: ({ base_url: address }) => [{ field: 'base_url', address }],
  open({ setting: { loft, base_url: base }, secret }) {
    const whistle = secret('whistle');
    if (whistle === undefined) return undefined;
    return {
      kind: 'http',
      trusted: false,
      speaker: () => ({
        request: ({ content }) => ({
          url: below(base, `/lofts/${encodeURIComponent(loft)}`),
          headers: { authorization: `Whistle ${whistle}` },
          body: content,
        }),
        read: ({ status, body }) => {
          const bird = idOf(fieldOf(body, 'bird'));
          if (status < 300)
            return { outcome: 'sent', code: status, ...(bird ? { providerMessageId: bird } : {}) };
          const word = fieldOf(body, 'word');
          if (word === 'no such roof') return { outcome: 'bounced', code: status, recipientGone: true };
          if (word === 'too many birds') return { outcome: 'deferred', code: status, throttled: true };
          return word === 'whose whistle'
            ? { outcome: 'misconfigured', stage: 'whistle', code: status }
            : undefined;
        },
      }),
    };
  },
  compose: ({ to, parts, sendId }) => Buffer.from(`${sendId} to ${to}: ${parts['text'] ?? ''}`),
  webhooks: {
    pigeons: {
      verify(call, account) {
        const mac = createHmac('sha256', secretOf(account, 'whistle')).update(call.body).digest('hex');
        if (!equalInConstantTime(headerOf(call, 'x-coo'), mac)) throw new Problem('invalid_signature');
      },
      read: ({ body, now }) => [
        {
          messageId: body.toString(),
          event: 'delivered',
          eventId: null,
          bounceType: null,
          occurredAt: now,
          namedSend: null,
          stopOf: null,
        },
      ],
    },
  },
});

describe('a provider that is registered', () => {
  const server = new Server();
  let world: MessagingWorld;
  beforeAll(async () => {
    await server.start();
    world = await messagingWorld({ consume: false });
    world.app.app.get(ProviderRegistry).add(pigeons);
  });
  afterAll(async () => {
    await world.close();
    await server.stop();
  });

  interface Shown {
    channels: { sms: Record<string, unknown> & { webhook_url: string } };
  }
  const channel = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
    provider: 'pigeons',
    from: '+56961234567',
    loft: 'north',
    whistle: 'three long',
    base_url: server.url,
    ...overrides,
  });
  const anSms = (): Record<string, unknown> =>
    aSend({ channel: 'sms', recipient: { address: '+56987654321' }, content: { text: 'Hello' } });

  async function aShop(): Promise<{ api: ReturnType<MessagingWorld['organization']>['api']; url: string }> {
    const { api } = world.organization();
    const { status, body } = await api.call<Shown>('PUT', SETTINGS, {
      body: { channels: { sms: channel() } },
    });
    expect(status).toBe(200);
    return { api, url: body.channels.sms.webhook_url };
  }

  it('is configured, keeps its secret, sends and reports, by what its one object says', async () => {
    const { api, url } = await aShop();
    const { body } = await api.get<Shown>(SETTINGS);
    expect(body.channels.sms).toMatchObject({ loft: 'north', whistle: { set: true }, misconfigured: null });
    expect(JSON.stringify(body)).not.toContain('three long');
    expect(url).toContain('/v1/messaging/webhooks/pigeons?key=');
    server.answer = () => ({ status: 200, body: { bird: `bird-${server.requests.length}` } });
    const id = await send(api, anSms());
    const { provider_message_id: bird = '' } = await settled(api, id, 'sent');
    expect(server.requests.at(-1)).toMatchObject({
      path: '/lofts/north',
      headers: { authorization: 'Whistle three long' },
    });
    expect(server.requests.at(-1)?.body.toString()).toBe(`${id} to +56987654321: Hello`);
    const sign = (text: string, secret = 'three long'): Record<string, string> => ({
      'x-coo': createHmac('sha256', secret).update(text).digest('hex'),
    });
    expect((await postRaw(world, url, bird ?? '', sign(bird ?? '', 'two long'))).status).toBe(401);
    expect(await postRaw(world, url, bird ?? '', sign(bird ?? ''))).toEqual({
      status: 200,
      body: { received: 1 },
    });
    expect((await shown(api, id)).state).toBe('delivered');
  });

  it.each([
    [{ loft: 'x'.repeat(41) }, '/channels/sms/loft'],
    [{ base_url: 'http://pigeons.example' }, '/channels/sms/base_url'],
    [{ whistle: '' }, '/channels/sms/whistle'],
    [{ feathers: 2 }, '/channels/sms/feathers'],
  ])('has its settings checked: %j', async (overrides, pointer) => {
    const { api } = world.organization();
    const { status, body } = await api.call<{ errors: { pointer: string }[] }>('PUT', SETTINGS, {
      body: { channels: { sms: channel(overrides) } },
    });
    expect([status, body.errors[0]?.pointer]).toEqual([400, pointer]);
  });

  it.each([
    ['no such roof', 'bounced', 'provider_rejected', 1],
    ['whose whistle', 'gated', 'provider_misconfigured', 0],
    ['too many birds', 'gated', null, 0],
  ])('blames whom it means by “%s”', async (word, state, reason, suppressions) => {
    const { api } = await aShop();
    server.answer = () => ({ status: 400, body: { word } });
    const id = await send(api, anSms());
    await eventually(async () => {
      expect(await shown(api, id)).toMatchObject({ state, reason, attempts: 1 });
      const { body } = await api.get<{ data: unknown[] }>('/v1/messaging/suppressions');
      expect(body.data).toHaveLength(suppressions);
    });
    const { body } = await api.get<{ channels: { sms: { misconfigured: object | null } } }>(SETTINGS);
    expect(body.channels.sms.misconfigured === null).toBe(reason !== 'provider_misconfigured');
  });

  it('cannot take the name or the path of another', () => {
    const registry = new ProviderRegistry();
    expect(() => registry.add({ ...pigeons, name: 'twilio' })).toThrow('two providers');
    const { twilio } = registry.find('twilio')?.webhooks ?? {};
    expect(() => registry.add({ ...pigeons, webhooks: twilio ? { twilio } : {} })).toThrow(
      'report to twilio',
    );
  });
});
