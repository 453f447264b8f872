import { randomUUID } from 'node:crypto';
import { PERMISSIONS } from '@customer-platform/permissions';
import { MailSink } from '../../mail-sink.fixture.js';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';

const PATH = '/v1/messaging/channel-settings';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const twilio = (overrides: Record<string, unknown> = {}) => ({
  provider: 'twilio',
  from: '+56961234567',
  account_sid: `AC${'a'.repeat(32)}`,
  auth_token: 'hunter2',
  base_url: 'http://127.0.0.1:9',
  ...overrides,
});
const http = (overrides: Record<string, unknown> = {}) => ({
  provider: 'http',
  from: '+56961234567',
  url: 'http://127.0.0.1:9/in',
  secret: SECRET,
  ...overrides,
});

interface Secret {
  set: boolean;
  fingerprint: string | null;
}
interface Shown {
  channels: { email?: Record<string, unknown> & { password: Secret } };
  quiet_hours: object | null;
  caps: object[];
  topics: object[];
}

describe('channel settings', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
  });
  afterAll(() => world.close());

  const email = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
    provider: 'smtp',
    from: 'Shop <hello@shop.example>',
    host: '127.0.0.1',
    port: 2525,
    security: 'none',
    ...overrides,
  });

  it('begin with the platform’s own server in local mode, in a form that PUT takes back', async () => {
    const { api } = world.organization();
    const first = await api.get<Shown>(PATH);
    expect(first).toMatchObject({
      status: 200,
      body: {
        channels: { email: { enabled: true, provider: 'smtp', host: '127.0.0.1', security: 'none' } },
        quiet_hours: null,
        caps: [],
        topics: [],
      },
    });
    const put = await api.call<Shown>('PUT', PATH, { body: first.body });
    expect(put).toMatchObject({ status: 200, body: first.body });
  });

  it('never give a secret back; keep, clear and drop it by the rules', async () => {
    const { id: organizationId, api } = world.organization();
    const put = async (overrides: Record<string, unknown>): Promise<Secret | undefined> => {
      const answer = await api.call<Shown>('PUT', PATH, { body: { channels: { email: email(overrides) } } });
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain('hunter2');
      return answer.body.channels.email?.password;
    };
    const written = await put({ username: 'shop', password: 'hunter2' });
    expect(written).toMatchObject({ set: true, fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(await put({ username: 'shop' })).toEqual(written);
    expect(await put({ username: 'shop', password: written })).toEqual(written);
    expect(await put({ port: 2526 })).toEqual(written);
    expect(await put({ password: 'hunter2!' })).not.toEqual(written);
    expect(await put({ password: null })).toEqual({ set: false, fingerprint: null, updated_at: null });
    await put({ password: 'hunter2' });
    expect(await put({ host: 'localhost' })).toMatchObject({ set: false });
    await put({ host: 'localhost', password: 'hunter2' });
    const rows = await world.database.query<{ row: string }>(
      `SELECT channel_settings::text || (SELECT string_agg(a::text, '') FROM audit_entries a) AS row FROM channel_settings WHERE organization_id = $1`,
      [organizationId],
    );
    expect(rows[0]?.row).not.toContain('hunter2');
    await api.call('PUT', PATH, { body: { channels: {} } });
    const [left] = await world.database.query(
      'SELECT secrets FROM channel_settings WHERE organization_id = $1',
      [organizationId],
    );
    expect(left).toEqual({ secrets: {} });
  });

  it.each([
    ['sms', twilio(), 'auth_token', { base_url: 'http://localhost:9' }],
    ['whatsapp', twilio(), 'auth_token', { base_url: 'http://localhost:9' }],
    ['push', http(), 'secret', { url: 'http://localhost:9/in' }],
    ['in_app', http(), 'secret', { url: 'http://localhost:9/in' }],
  ])('of %s keep, clear and drop its secret by the rules', async (channel, setting, field, elsewhere) => {
    const { id, api } = world.organization();
    const put = async (given: Record<string, unknown>) => {
      const { status, body } = await api.call<{ channels: Record<string, Record<string, Secret>> }>(
        'PUT',
        PATH,
        {
          body: { channels: { [channel]: given } },
        },
      );
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain(String(setting[field as 'from']));
      return body.channels[channel] ?? {};
    };
    const { [field as 'from']: _secret, ...rest } = setting as Record<string, unknown>;
    const written = await put(setting);
    expect(written[field]).toMatchObject({ set: true, fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(written['webhook_url']).toMatch(
      new RegExp(
        `^http://127\\.0\\.0\\.1:8080/v1/messaging/webhooks/${field === 'secret' ? 'standard' : 'twilio'}\\?key=[\\w-]{44}$`,
      ),
    );
    expect(await put(rest)).toEqual(written);
    expect(await put(written)).toEqual(written);
    expect((await put({ ...rest, [field]: null }))[field]).toMatchObject({ set: false });
    await put(setting);
    expect((await put({ ...rest, ...elsewhere }))[field]).toMatchObject({ set: false });
    await put(setting);
    const [row] = await world.database.query<{ row: string }>(
      'SELECT channel_settings::text AS row FROM channel_settings WHERE organization_id = $1',
      [id],
    );
    expect(row?.row).not.toContain(String(setting[field as 'from']));
    expect(row?.row).not.toContain('webhook_url');
    await api.call('PUT', PATH, { body: { channels: { [channel]: { ...rest, enabled: false } } } });
    await api.call('PUT', PATH, { body: { channels: {} } });
    expect((await put(rest))[field]).toMatchObject({ set: false });
  });

  it('take an inbox without a provider’s name, and drop a secret with its provider', async () => {
    const { api } = world.organization();
    const put = async (channels: object) =>
      (await api.call<{ channels: Record<string, object> }>('PUT', PATH, { body: { channels } })).body
        .channels;
    expect(await put({ in_app: {} })).toMatchObject({
      in_app: { provider: 'inbox', enabled: true, webhook_url: null },
    });
    await put({ sms: http() });
    await put({ sms: twilio() });
    const { secret: _secret, ...again } = http();
    expect(await put({ sms: again })).toMatchObject({ sms: { secret: { set: false } } });
  });

  it('disable a channel that is left out', async () => {
    const { api } = world.organization();
    await api.call('PUT', PATH, { body: { channels: {} } });
    const answer = await api.post('/v1/messaging/sends', aSend(), { 'idempotency-key': randomUUID() });
    expect(answer).toMatchObject({ status: 422, body: { code: 'channel_not_configured' } });
  });

  it('send through the organization’s own server, from its own address, no faster than it may', async () => {
    const own = new MailSink();
    const port = await own.start();
    const { api } = world.organization();
    await api.call('PUT', PATH, {
      body: { channels: { email: email({ port, reply_to: 'help@shop.example', max_per_second: 4 }) } },
    });
    const ids = await Promise.all(Array.from({ length: 10 }, () => send(api, aSend())));
    for (const id of ids) await settled(api, id, 'sent');
    expect(own.mails).toHaveLength(10);
    expect(new Set(own.mails.map(({ from }) => from))).toEqual(new Set(['hello@shop.example']));
    const taken = await world.database.query<{ ms: number }>(
      `SELECT extract(epoch FROM occurred_at)::float8 * 1000 AS ms FROM send_history
        WHERE send_id = ANY ($1) AND state = 'rendering' ORDER BY occurred_at`,
      [ids],
    );
    // A burst of one second's worth, then a quarter of a second each; less what the clock's milliseconds round.
    for (const [index, { ms }] of taken.entries())
      expect(ms - (taken[0]?.ms ?? 0)).toBeGreaterThanOrEqual((index - 3) * 250 - 5);
    await own.stop();
  });

  it('change with If-Match only as seen', async () => {
    const { api } = world.organization();
    const etag = (await api.get(PATH)).headers.get('etag') ?? '';
    const put = (tag: string) =>
      api.call('PUT', PATH, { body: { channels: {} }, headers: { 'if-match': tag } });
    expect((await put(etag)).status).toBe(200);
    expect(await put(etag)).toMatchObject({ status: 412, body: { code: 'etag_mismatch' } });
  });

  it.each([
    [
      { channels: { email: email({ host: '10.0.0.1' }) } },
      '/channels/email/host',
      'destination_not_allowed',
      422,
    ],
    [
      { channels: { email: email({ host: '169.254.169.254' }) } },
      '/channels/email/host',
      'destination_not_allowed',
      422,
    ],
    [{ channels: { email: email({ host: 'a b' }) } }, '/channels/email/host', 'invalid_format', 400],
    [{ channels: { email: email({ from: 'x' }) } }, '/channels/email/from', 'invalid_address', 400],
    [
      { channels: { email: email({ from: 'Shop <a@b.example>\r\nBcc: x@y.example' }) } },
      '/channels/email/from',
      'invalid_address',
      400,
    ],
    [
      { channels: { email: email({ provider: 'pigeons' }) } },
      '/channels/email/provider',
      'invalid_enum',
      400,
    ],
    [{ channels: { email: email({ port: 0 }) } }, '/channels/email/port', 'out_of_range', 400],
    [{ channels: { email: email({ pasword: 'x' }) } }, '/channels/email/pasword', 'unknown_field', 400],
    [{ channels: { sms: { provider: 'twilio' } } }, '/channels/sms/account_sid', 'required', 400],
    [{ channels: { sms: { ...http(), provider: 'smtp' } } }, '/channels/sms/provider', 'invalid_enum', 400],
    [
      { channels: { sms: twilio({ account_sid: 'AC1' }) } },
      '/channels/sms/account_sid',
      'invalid_format',
      400,
    ],
    [{ channels: { sms: twilio({ from: '961234567' }) } }, '/channels/sms/from', 'invalid_address', 400],
    [{ channels: { whatsapp: http({ from: 'Shop' }) } }, '/channels/whatsapp/from', 'invalid_address', 400],
    [{ channels: { push: http({ secret: 'short' }) } }, '/channels/push/secret', 'invalid_format', 400],
    [
      { channels: { push: http({ url: 'https://u:p@x.example/' }) } },
      '/channels/push/url',
      'invalid_format',
      400,
    ],
    [{ channels: { push: http({ url: 'ftp://x.example/' }) } }, '/channels/push/url', 'invalid_format', 400],
    // A name that leads elsewhere may not be reached in plain text, in local mode either.
    ...[
      'http://8.8.8.8/',
      'HTTP://8.8.8.8/',
      'hTtP:\\\\8.8.8.8/',
      'ht\ttp://8.8.8.8/',
      ' http://8.8.8.8/',
    ].map((url): [object, string, string, number] => [
      { channels: { push: http({ url }) } },
      '/channels/push/url',
      'invalid_format',
      400,
    ]),
    [
      { channels: { push: http({ url: 'https://10.0.0.1/' }) } },
      '/channels/push/url',
      'destination_not_allowed',
      422,
    ],
    [
      { channels: { sms: twilio({ base_url: 'https://[::ffff:10.0.0.1]' }) } },
      '/channels/sms/base_url',
      'destination_not_allowed',
      422,
    ],
    [{ channels: { in_app: { provider: 'smtp' } } }, '/channels/in_app/provider', 'invalid_enum', 400],
    [{ channels: { fax: {} } }, '/channels/fax', 'unknown_field', 400],
    [
      { channels: {}, quiet_hours: { start: '25:00', end: '08:00', timezone: 'America/Santiago' } },
      '/quiet_hours/start',
      'invalid_format',
      400,
    ],
    [
      { channels: {}, quiet_hours: { start: '22:00', end: '08:00', timezone: 'Mars/Phobos' } },
      '/quiet_hours/timezone',
      'invalid_format',
      400,
    ],
    [
      { channels: {}, caps: Array(11).fill({ channel: 'email', limit: 1, window: 'day' }) },
      '/caps',
      'too_long',
      400,
    ],
    [
      {
        channels: {},
        caps: [
          { channel: 'email', limit: 1, window: 'day' },
          { channel: 'email', limit: 2, window: 'day' },
        ],
      },
      '/caps/1',
      'duplicate_item',
      400,
    ],
    [
      { channels: {}, topics: [{ key: 'Bad Key', name: 'x', channels: ['email'], default: true }] },
      '/topics/0/key',
      'invalid_format',
      400,
    ],
    [{}, '/channels', 'required', 400],
  ])('refuse %j', async (body, pointer, code, status) => {
    const { api } = world.organization();
    const answer = await api.call<{ errors: object[] }>('PUT', PATH, { body });
    expect(answer.status).toBe(status);
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  it.each([
    ['GET', 'messaging.channels.read'],
    ['PUT', 'messaging.channels.update'],
  ] as const)('%s needs %s', async (method, permission) => {
    const { id } = world.organization();
    const options = method === 'PUT' ? { body: {} } : {};
    const others = world.app.as(
      id,
      PERMISSIONS.filter((one) => one !== permission),
    );
    expect(await others.call(method, PATH, options)).toMatchObject({ status: 403, body: { permission } });
    expect((await world.app.as(id, [permission]).call(method, PATH, options)).status).not.toBe(403);
  });

  it('are each organization’s own', async () => {
    const [mine, other] = [world.organization(), world.organization()];
    await mine.api.call('PUT', PATH, { body: { channels: { email: email({ from: 'mine@shop.example' }) } } });
    expect((await other.api.get<Shown>(PATH)).body.channels.email?.['from']).not.toBe('mine@shop.example');
  });
});
