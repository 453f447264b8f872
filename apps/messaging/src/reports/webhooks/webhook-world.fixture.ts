import { randomUUID } from 'node:crypto';
import type { Caller } from '@customer-platform/testing';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';
import { postRaw, standardHeaders, type ReportBody } from './signed-calls.fixture.js';

/** Where channels are configured. */
export const SETTINGS = '/v1/messaging/channel-settings';
/** Where those stand who get nothing. */
export const SUPPRESSIONS = '/v1/messaging/suppressions';
/** Of every shop's push provider. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Of the platform's own provider. */
export const PLATFORM_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
/** Of every shop's account with Twilio. */
export const TOKEN = 'a-token-of-Twilio';

/** An organization with push by a signed provider, SMS and WhatsApp by Twilio. */
export interface Shop {
  id: string;
  api: Caller;
  urls: { push: string; sms: string; whatsapp: string };
}

/** Messaging with a provider behind all its channels. */
export interface WebhookWorld {
  readonly world: MessagingWorld;
  readonly provider: Provider;
  shop(): Promise<Shop>;
  report(shop: Shop, given: ReportBody | { events: ReportBody[] }): ReturnType<typeof postRaw>;
  /** The provider takes everything, each message under an id of its own. */
  answerAll(): void;
  close(): Promise<void>;
}

/** Starts it. */
export async function webhookWorld(): Promise<WebhookWorld> {
  const provider = new Provider();
  await provider.start();
  const world = await messagingWorld({
    consume: false,
    env: { PROVIDER_URL: `${provider.url}/platform`, PROVIDER_SECRET: PLATFORM_SECRET },
  });
  let counter = 0;
  return {
    world,
    provider,
    shop: () => aShop(world, provider),
    report: (shop, given) => {
      const body = JSON.stringify(given);
      return postRaw(world, shop.urls.push, body, standardHeaders(SECRET, body));
    },
    answerAll: () => {
      provider.answer = () => {
        counter += 1;
        return { status: 201, body: { provider_message_id: `p-${counter}`, sid: `SM${counter}` } };
      };
    },
    close: async () => {
      await world.close();
      await provider.stop();
    },
  };
}

async function aShop(world: MessagingWorld, provider: Provider): Promise<Shop> {
  const { id, api } = world.organization();
  const http = { provider: 'http', url: `${provider.url}/in`, secret: SECRET };
  const twilio = {
    provider: 'twilio',
    from: '+56961234567',
    account_sid: `AC${'a'.repeat(32)}`,
    auth_token: TOKEN,
    base_url: provider.url,
  };
  const channels = { push: { ...http, max_per_second: 1_000 }, sms: twilio, whatsapp: twilio };
  const { body } = await api.call<{ channels: Record<string, { webhook_url: string }> }>('PUT', SETTINGS, {
    body: { channels },
  });
  const url = (channel: string): string => body.channels[channel]?.webhook_url ?? '';
  return { id, api, urls: { push: url('push'), sms: url('sms'), whatsapp: url('whatsapp') } };
}

/** A push to a token. */
export const aPush = (token: string = randomUUID()): Record<string, unknown> =>
  aSend({ channel: 'push', recipient: { address: token }, content: { title: 'x', body: 'y' } });

/** An SMS to a number. */
export const anSms = (address = '+56987654321'): Record<string, unknown> =>
  aSend({ channel: 'sms', recipient: { address }, content: { text: 'x' } });

/** Sends and waits until the provider has taken it. */
export async function sent(
  api: Caller,
  body: Record<string, unknown>,
): Promise<{ id: string; messageId: string }> {
  const id = await send(api, body);
  const { provider_message_id: messageId } = await settled(api, id, 'sent');
  return { id, messageId: messageId ?? '' };
}

/** Everybody of an organization who gets nothing. */
export async function suppressed(
  api: Caller,
): Promise<{ channel: string; address: string; reason: string }[]> {
  return (await api.get<{ data: never[] }>(SUPPRESSIONS)).body.data;
}
