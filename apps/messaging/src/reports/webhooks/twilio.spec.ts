import { send, settled, shown, type MessagingWorld } from '../../messaging.fixture.js';
import type { Provider } from '../../provider.fixture.js';
import { postRaw, twilioHeaders } from './signed-calls.fixture.js';
import {
  anSms,
  sent,
  suppressed,
  SUPPRESSIONS,
  TOKEN,
  webhookWorld,
  type Shop,
  type WebhookWorld,
} from './webhook-world.fixture.js';

let there: WebhookWorld;
let world: MessagingWorld;
let provider: Provider;
beforeAll(async () => {
  there = await webhookWorld();
  ({ world, provider } = there);
});
beforeEach(() => there.answerAll());
afterAll(() => there.close());

const aShop = (): Promise<Shop> => there.shop();

describe('POST /v1/messaging/webhooks/twilio', () => {
  const post = (url: string, form: Record<string, string>, token = TOKEN) =>
    postRaw(world, url, new URLSearchParams(form).toString(), twilioHeaders(token, url, form));

  it.each([
    [{ MessageStatus: 'delivered' }, 'delivered', undefined],
    [{ MessageStatus: 'read' }, 'opened', undefined],
    [{ MessageStatus: 'sending' }, 'sent', undefined],
    [{ MessageStatus: 'constructor' }, 'sent', undefined],
    [{ MessageStatus: 'undelivered', ErrorCode: '30003' }, 'bounced', undefined],
    [{ MessageStatus: 'undelivered', ErrorCode: '30005' }, 'bounced', 'hard_bounce'],
    [{ MessageStatus: 'failed', ErrorCode: '30008' }, 'bounced', undefined],
    [{ MessageStatus: 'failed', ErrorCode: '21610' }, 'sent', 'stop_keyword'],
  ])('reads %j as %s', async (form, state, reason) => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop.api, anSms());
    expect((await post(`${shop.urls.sms}&send=${id}`, { MessageSid: messageId, ...form })).status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe(state);
    expect((await suppressed(shop.api)).map((one) => one.reason)).toEqual(reason ? [reason] : []);
  });

  it('finds a send whose answer was lost by what its callback names', async () => {
    const shop = await aShop();
    provider.answer = () => null;
    const id = await send(shop.api, anSms());
    await settled(shop.api, id, 'unknown');
    await post(`${shop.urls.sms}&send=${id}`, { MessageSid: 'SMlost', MessageStatus: 'delivered' });
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });

  it.each([
    ['sms', '+56987654321', { Body: ' Stop ' }, 'stop_keyword'],
    ['sms', '+56987654321', { Body: 'x', OptOutType: 'STOP' }, 'stop_keyword'],
    ['whatsapp', 'whatsapp:+56987654321', { Body: 'BAJA' }, 'stop_keyword'],
    ['sms', '+56987654321', { Body: 'please stop by tomorrow' }, undefined],
  ] as const)('of %s from %s: %j', async (channel, From, form, reason) => {
    const shop = await aShop();
    const answered = await post(shop.urls[channel], {
      MessageSid: 'SMin',
      SmsStatus: 'received',
      From,
      ...form,
    });
    expect(answered.status).toBe(200);
    const expected = reason ? [{ channel, address: '+56987654321', reason }] : [];
    expect(await suppressed(shop.api)).toMatchObject(expected);
    expect(await suppressed(shop.api)).toHaveLength(expected.length);
  });

  it('takes a STOP once: what was lifted since stays lifted', async () => {
    const shop = await aShop();
    const stop = { MessageSid: 'SMstop', SmsStatus: 'received', From: '+56987654321', Body: 'STOP' };
    await post(shop.urls.sms, stop);
    await shop.api.delete(`${SUPPRESSIONS}?channel=sms&address=%2B56987654321`);
    expect((await post(shop.urls.sms, stop)).status).toBe(200);
    expect(await suppressed(shop.api)).toEqual([]);
  });

  it('401 for a form, an address or a token that was not signed, and nothing changes', async () => {
    const shop = await aShop();
    const { id, messageId } = await sent(shop.api, anSms());
    const form = { MessageSid: messageId, MessageStatus: 'delivered' };
    const body = new URLSearchParams(form).toString();
    const good = twilioHeaders(TOKEN, shop.urls.sms, form);
    const { 'x-twilio-signature': _signature, ...unsigned } = good;
    for (const [url, bytes, headers] of [
      [shop.urls.sms, body, unsigned],
      [shop.urls.sms, body.replace('delivered', 'failed'), good],
      [shop.urls.sms, `${body}&Extra=1`, good],
      [shop.urls.sms, body.slice(0, -1), good],
      [`${shop.urls.sms}&send=${id}`, body, good],
      [shop.urls.sms, body, twilioHeaders('another', shop.urls.sms, form)],
      [
        shop.urls.sms.split('?')[0] ?? '',
        body,
        twilioHeaders(TOKEN, shop.urls.sms.split('?')[0] ?? '', form),
      ],
    ] as const) {
      expect((await postRaw(world, url, bytes, headers)).body.code).toBe('invalid_signature');
    }
    expect((await shown(shop.api, id)).state).toBe('sent');
    expect((await postRaw(world, shop.urls.sms, body, good)).status).toBe(200);
    expect((await shown(shop.api, id)).state).toBe('delivered');
  });
});
