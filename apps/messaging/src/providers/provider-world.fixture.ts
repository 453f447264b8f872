import { eventually, type Caller } from '@customer-platform/testing';
import {
  aSend,
  messagingWorld,
  shown,
  type MessagingWorld,
  type WorldOptions,
} from '../messaging.fixture.js';
import { Provider } from '../provider.fixture.js';

const SETTINGS = '/v1/messaging/channel-settings';

/** An organization whose channels go to the provider of the test. */
export interface ProviderShop {
  readonly id: string;
  readonly api: Caller;
  /** By channel. */
  readonly urls: Readonly<Record<string, string | null>>;
}

/** Messaging, and a server in the place of one provider. */
export interface ProviderWorld {
  readonly world: MessagingWorld;
  readonly server: Provider;
  shop(channels: Record<string, object>): Promise<ProviderShop>;
  fault(shop: ProviderShop, channel: string): Promise<unknown>;
  /** Reasons of everybody who gets nothing. */
  suppressions(shop: ProviderShop): Promise<{ address: string; reason: string }[]>;
  close(): Promise<void>;
}

interface Shown {
  channels: Record<string, { webhook_url: string | null; misconfigured: unknown }>;
}

/** Starts it. */
export async function providerWorld(options: WorldOptions = { consume: false }): Promise<ProviderWorld> {
  const server = new Provider();
  await server.start();
  const world = await messagingWorld(options);
  return {
    world,
    server,
    async shop(channels) {
      const { id, api } = world.organization();
      const { status, body } = await api.call<Shown>('PUT', SETTINGS, { body: { channels } });
      expect([status, body]).toEqual([200, expect.anything()]);
      const urls = Object.entries(body.channels).map(([name, { webhook_url: url }]) => [name, url]);
      return { id, api, urls: Object.fromEntries(urls) as ProviderShop['urls'] };
    },
    async fault({ api }, channel) {
      return (await api.get<Shown>(SETTINGS)).body.channels[channel]?.misconfigured;
    },
    async suppressions({ api }) {
      const { body } = await api.get<{ data: { address: string; reason: string }[] }>(
        '/v1/messaging/suppressions',
      );
      return body.data;
    },
    async close() {
      await world.close();
      await server.stop();
    },
  };
}

/** A WhatsApp message to a number. */
export const aWhatsapp = (overrides: Record<string, unknown> = {}): Record<string, unknown> =>
  aSend({
    channel: 'whatsapp',
    recipient: { address: '+56987654321' },
    content: { text: 'Hello' },
    ...overrides,
  });

/** A push to a token. */
export const aPush = (token: string): Record<string, unknown> =>
  aSend({
    channel: 'push',
    recipient: { address: token },
    content: { title: 'Order', body: 'Ready: ñ', url: 'https://shop.example/7' },
  });

/** Waits for what the first hand-off of a push has come to, and for how many tokens it suppresses. */
export async function endedPush(
  there: ProviderWorld,
  shop: ProviderShop,
  id: string,
  expected: object,
  suppressed: number,
): Promise<void> {
  await eventually(async () => {
    expect(await shown(shop.api, id)).toMatchObject({ attempts: 1, ...expected });
    expect(await there.suppressions(shop)).toMatchObject(
      Array.from({ length: suppressed }, () => ({ reason: 'invalid_token' })),
    );
  });
}
