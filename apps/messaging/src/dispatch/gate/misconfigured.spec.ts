import { randomUUID } from 'node:crypto';
import { eventually, type Caller } from '@customer-platform/testing';
import { MailSink } from '../../mail-sink.fixture.js';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  shown,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';

const SETTINGS = '/v1/messaging/channel-settings';

const provider = new Provider();
let password = '';
const mail = new MailSink({
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth: (given, _session, done) => {
    if (given.password === password) done(null, { user: given.username });
    else done(Object.assign(new Error('5.7.8 bad credentials'), { responseCode: 535 }));
  },
});
let mailPort: number;
let world: MessagingWorld;
beforeAll(async () => {
  await provider.start();
  mailPort = await mail.start();
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(async () => {
  await world.close();
  await mail.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.requests.length = 0;
});

interface Shop {
  readonly id: string;
  readonly api: Caller;
  put(channels: Record<string, object>): Promise<void>;
  misconfigured(channel: string): Promise<unknown>;
}

function aShop(): Shop {
  const { id, api } = world.organization();
  return {
    id,
    api,
    put: async (channels) =>
      expect(await api.call('PUT', SETTINGS, { body: { channels } })).toMatchObject({ status: 200 }),
    misconfigured: async (channel) => {
      const { body } = await api.get<{ channels: Record<string, { misconfigured: unknown }> }>(SETTINGS);
      return body.channels[channel]?.misconfigured;
    },
  };
}

const http = (): object => ({
  provider: 'http',
  url: `${provider.url}/in`,
  secret: `whsec_${'A'.repeat(32)}`,
});
const twilio = (): object => ({
  provider: 'twilio',
  from: '+56961234567',
  account_sid: `AC${'a'.repeat(32)}`,
  auth_token: 'token',
  base_url: provider.url,
});
const aPush = (): Record<string, unknown> =>
  aSend({ channel: 'push', recipient: { address: randomUUID() }, content: { title: 'x', body: 'y' } });
const anSms = (): Record<string, unknown> =>
  aSend({ channel: 'sms', recipient: { address: '+56987654321' }, content: { text: 'x' } });

/** Waits until a try has been recorded. */
async function triedOnce(id: string): Promise<{ updated_at: Date; due_at: Date; reason: string | null }> {
  return eventually(async () => {
    const [row] = await world.database.query<{
      state: string;
      attempts: number;
      claim: string | null;
      reason: string | null;
      updated_at: Date;
      due_at: Date;
    }>('SELECT state, attempts, claim, reason, updated_at, due_at FROM sends WHERE id = $1', [id]);
    expect(row).toMatchObject({ state: 'gated', attempts: 1, claim: null });
    if (!row) throw new Error('no row');
    return row;
  });
}

const dueNow = (id: string) => world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);

describe('a provider that refuses the account', () => {
  it.each([
    [401, 'push'],
    [403, 'push'],
    [404, 'push'],
    [302, 'push'],
    [401, 'sms'],
    [404, 'sms'],
  ])('by %i keeps a %s waiting, tells the organization, and blames no recipient', async (status, channel) => {
    const shop = aShop();
    await shop.put(channel === 'push' ? { push: http() } : { sms: twilio() });
    expect(await shop.misconfigured(channel)).toBeNull();
    provider.answer = () => ({ status, headers: { location: `${provider.url}/elsewhere` } });
    const id = await send(shop.api, channel === 'push' ? aPush() : anSms());
    const waiting = await triedOnce(id);
    expect(waiting.reason).toBe('provider_misconfigured');
    expect(waiting.due_at.getTime() - waiting.updated_at.getTime()).toBe(30_000);
    expect((await history(shop.api, id)).at(-1)).toMatchObject({
      state: 'gated',
      reason: 'provider_misconfigured',
      smtp_code: status,
    });
    const fault = { stage: 'request', code: status };
    expect(await shop.misconfigured(channel)).toEqual({ ...fault, since: waiting.updated_at.toISOString() });
    const name = channel === 'push' ? 'http' : 'twilio';
    const data = { organization_id: shop.id, channel, provider: name, ...fault };
    const [told] = await world.probe.expectEvents('messaging.channel.misconfigured.v1', shop.id, 1);
    expect(told?.data).toEqual(data);

    provider.answer = () => ({ status: 201, body: { provider_message_id: randomUUID(), sid: randomUUID() } });
    await dueNow(id);
    expect(await settled(shop.api, id, 'sent')).toMatchObject({ attempts: 2, reason: null });
    const [over] = await world.probe.expectEvents('messaging.channel.recovered.v1', shop.id, 1);
    expect(over?.data).toEqual(data);
    expect(await shop.misconfigured(channel)).toBeNull();
    expect(world.probe.events('messaging.channel.misconfigured.v1', shop.id)).toHaveLength(1);
    expect((await shop.api.get('/v1/messaging/suppressions')).body).toMatchObject({ data: [] });
  });

  it('is told of once, and anew after other settings', async () => {
    const shop = aShop();
    await shop.put({ push: http() });
    provider.answer = () => ({ status: 401 });
    const id = await send(shop.api, aPush());
    await triedOnce(id);
    const { body } = await shop.api.get<{ channels: Record<string, object> }>(SETTINGS);
    await shop.put(body.channels);
    expect(await shop.misconfigured('push')).toBeNull();
    await dueNow(id);
    await world.probe.expectEvents('messaging.channel.misconfigured.v1', shop.id, 2);
    expect(await shop.misconfigured('push')).toMatchObject({ stage: 'request', code: 401 });
  });

  it('by SMTP AUTH is told of alike, and what waits leaves with the right password', async () => {
    const shop = aShop();
    password = 'right';
    const email = (secret: string): object => ({
      provider: 'smtp',
      from: 'shop@example.com',
      host: '127.0.0.1',
      port: mailPort,
      security: 'none',
      username: 'shop',
      password: secret,
    });
    await shop.put({ email: email('wrong') });
    const id = await send(shop.api, aSend());
    expect(await triedOnce(id)).toMatchObject({ reason: 'provider_misconfigured' });
    expect(await shop.misconfigured('email')).toMatchObject({ stage: 'AUTH', code: 535 });
    const [told] = await world.probe.expectEvents('messaging.channel.misconfigured.v1', shop.id, 1);
    expect(told?.data).toMatchObject({ channel: 'email', provider: 'smtp', stage: 'AUTH', code: 535 });
    await shop.put({ email: email('right') });
    await dueNow(id);
    await settled(shop.api, id, 'sent');
  });
});

describe('Retry-After', () => {
  it.each([
    ['in seconds', 429, () => '3600', 3_600_000],
    ['longer than a day', 503, () => '9999999', 86_400_000],
    ['shorter than the schedule', 429, () => '1', 30_000],
    ['with a refused account', 401, () => '7200', 7_200_000],
  ])('%s decides when a send is tried again', async (_what, status, header, pause) => {
    const shop = aShop();
    await shop.put({ push: http() });
    provider.answer = () => ({ status, headers: { 'retry-after': header() } });
    const id = await send(shop.api, aPush());
    const { due_at: due, updated_at: at } = await triedOnce(id);
    expect(due.getTime() - at.getTime()).toBe(pause);
    expect((await shown(shop.api, id)).release_at).toBe(due.toISOString());
  });

  it('as a date, too', async () => {
    const shop = aShop();
    await shop.put({ push: http() });
    const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 7_200_000);
    provider.answer = () => ({ status: 429, headers: { 'retry-after': until.toUTCString() } });
    const { due_at: due } = await triedOnce(await send(shop.api, aPush()));
    expect(due.getTime()).toBeGreaterThanOrEqual(until.getTime());
  });
});

describe('a channel whose secret cannot be read', () => {
  it('is nothing that the settings after it are told of, nor is what leaves by those before them', async () => {
    const shop = aShop();
    const held = [401, 201].map((status) => ({ status, ...Promise.withResolvers<void>() }));
    let calls = 0;
    provider.answer = async () => {
      const mine = held[calls++];
      await mine?.promise;
      return { status: mine?.status ?? 401, body: { provider_message_id: randomUUID() } };
    };
    const under = async (call: number) => {
      const id = await send(shop.api, aPush());
      await eventually(() => expect(calls).toBe(call));
      return id;
    };
    await shop.put({ push: http() });
    const before = await under(1);
    await shop.put({ push: http() });
    held[0]?.resolve();
    await triedOnce(before);
    expect(await shop.misconfigured('push')).toBeNull();
    await dueNow(before);
    await eventually(() => expect(calls).toBe(2));
    await shop.put({ push: http() });
    await triedOnce(await send(shop.api, aPush()));
    const fault = await shop.misconfigured('push');
    expect(fault).toMatchObject({ code: 401 });
    held[1]?.resolve();
    await settled(shop.api, before, 'sent');
    expect(await shop.misconfigured('push')).toEqual(fault);
  });

  it('waits for other settings, and no other organization waits with it', async () => {
    const [shop, other] = [aShop(), aShop()];
    provider.answer = () => ({ status: 201, body: { provider_message_id: randomUUID() } });
    for (const { put } of [shop, other]) await put({ push: http() });
    const due = (id: string) =>
      world.database.query('UPDATE sends SET due_at = now() WHERE organization_id = $1 AND id = $2', [
        shop.id,
        id,
      ]);
    const before = await send(shop.api, {
      ...aPush(),
      not_before: new Date(Date.now() + 3_600_000).toISOString(),
    });
    // As after a restore of the database without its keys.
    await world.database.query(
      `UPDATE channel_settings SET secrets = jsonb_set(secrets, '{push,secret,sealed}', '"v1.none"'), version = version + 1
        WHERE organization_id = $1`,
      [shop.id],
    );
    await due(before);
    const accepted = await send(other.api, aPush());
    expect(await settled(other.api, accepted, 'sent')).toMatchObject({ attempts: 1 });
    await eventually(async () => {
      const rows = await world.database.query<{ state: string }>(
        'SELECT state FROM sends WHERE organization_id = $1 AND id = $2 AND due_at > now()',
        [shop.id, before],
      );
      expect(rows.map(({ state }) => state)).toEqual(['rendering']);
    });
    const refused = await shop.api.post('/v1/messaging/sends', aPush(), {
      'idempotency-key': randomUUID(),
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });

    await shop.put({ push: http() });
    await due(before);
    for (const waiting of [before, await send(shop.api, aPush())])
      expect(await settled(shop.api, waiting, 'sent')).toMatchObject({ attempts: 1 });
  });
});
