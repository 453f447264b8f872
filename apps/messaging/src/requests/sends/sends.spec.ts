import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { type Caller, eventually } from '@customer-platform/testing';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  shown,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';
import { isFinal, mayFollow, SEND_STATES } from '../../vocabulary/sends/send-state.js';

const SENDS = '/v1/messaging/sends';
const LATER = (): string => new Date(Date.now() + 3_600_000).toISOString();

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

function post(api: Caller, body: unknown, key: string | undefined = randomUUID()) {
  return api.post<{
    send_id: string;
    state: string;
    code: string;
    errors: { pointer: string; code: string }[];
  }>(SENDS, body, key === undefined ? {} : { 'idempotency-key': key });
}

describe('POST /v1/messaging/sends', () => {
  it.each([
    [{ channel: 'fax' }, '/channel', 'invalid_enum'],
    [{ recipient: {} }, '/recipient', 'required'],
    [{ recipient: { address: 'a@example.com', external_id: 'x' } }, '/recipient', 'not_allowed'],
    [{ recipient: { adress: 'a@example.com' } }, '/recipient/adress', 'unknown_field'],
    [{ recipient: { address: 'Ana <a@example.com>' } }, '/recipient/address', 'invalid_address'],
    [
      { recipient: { address: 'a@example.com\nBcc: b@example.com' } },
      '/recipient/address',
      'invalid_address',
    ],
    [
      { channel: 'sms', content: { text: 'Hi' }, recipient: { address: '+560987650051' } },
      '/recipient/address',
      'invalid_address',
    ],
    [{ recipient: { contact_id: 'x' } }, '/recipient/contact_id', 'invalid_format'],
    [{ content: undefined }, '/template_id', 'required'],
    [{ template_id: randomUUID() }, '/content', 'not_allowed'],
    [{ content: { subject: 'x' } }, '/content/html', 'required'],
    [{ data: { x: 'y'.repeat(65 * 1024) } }, '/data', 'too_long'],
    [{ metadata: { x: 'y'.repeat(5 * 1024) } }, '/metadata', 'too_long'],
    [{ not_before: new Date(Date.now() + 31 * 86_400_000).toISOString() }, '/not_before', 'out_of_range'],
    [{ not_before: '2026-11-21T12:00:00' }, '/not_before', 'invalid_format'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at', 'out_of_range'],
    [{ from: 'not an address' }, '/from', 'invalid_address'],
    [{ locale: 'no locale' }, '/locale', 'invalid_format'],
    [{ locale: 'es_CL' }, '/locale', 'invalid_format'],
    [{ topic: 'news' }, '/topic', 'invalid_enum'],
    [{ subject: 'x' }, '/subject', 'unknown_field'],
  ])('400 for %j', async (overrides, pointer, code) => {
    const { api } = world.organization();
    const answer = await post(api, aSend(overrides));
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('400 idempotency_key_required without the header', async () => {
    const { api } = world.organization();
    expect(await api.post(SENDS, aSend())).toMatchObject({
      status: 400,
      body: { code: 'idempotency_key_required' },
    });
  });

  it('422 for what cannot be sent', async () => {
    const [{ api }, other] = [world.organization(), world.organization()];
    const code = async (overrides: object): Promise<unknown> => {
      const { status, body } = await post(api, aSend({ content: undefined, ...overrides }));
      return [status, body.code];
    };
    const deleted = await template(api);
    await api.delete(`/v1/messaging/templates/${deleted}`);
    const draft = await template(api, { publish: false });
    expect(await code({ template_id: randomUUID() })).toEqual([422, 'reference_not_found']);
    expect(await code({ template_id: await template(other.api) })).toEqual([422, 'reference_not_found']);
    expect(await code({ template_id: deleted })).toEqual([422, 'reference_deleted']);
    expect(await code({ template_id: draft })).toEqual([422, 'template_invalid']);
    expect(await code({ content: { subject: '{{', text: 'x' } })).toEqual([422, 'template_invalid']);
    expect(
      await code({ channel: 'sms', content: { text: 'x' }, recipient: { address: '+56961234567' } }),
    ).toEqual([422, 'channel_not_configured']);
    const needing = await template(api, { variables: { order: { type: 'string', required: true } } });
    const missing = await post(api, aSend({ content: undefined, template_id: needing }));
    expect(missing).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/data/order', code: 'required' }] },
    });
  });

  it('202 for a contact that core cannot be asked for; it is resolved later', async () => {
    const { api } = world.organization();
    const answer = await post(api, aSend({ recipient: { contact_id: randomUUID() } }));
    expect(answer).toMatchObject({ status: 202, body: { state: 'accepted' } });
    // Whoever has just taken the send up notes its own time at the end of its turn.
    await eventually(
      async () => {
        await world.database.query(
          `UPDATE sends SET waiting_since = now() - interval '16 minutes', due_at = now()
            WHERE id = $1 AND claim IS NULL AND waiting_since > now() - interval '15 minutes'`,
          [answer.body.send_id],
        );
        const { state, reason } = await shown(api, answer.body.send_id);
        expect([state, reason]).toEqual(['failed', 'recipient_unreachable']);
      },
      { within: 20_000 },
    );
  });

  it('one message for 50 requests at once with one key', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    const [key, body] = [randomUUID(), aSend({ recipient: { address } })];
    const again = async (): Promise<Awaited<ReturnType<typeof post>>> => {
      const answer = await post(api, body, key);
      // Waited its five seconds in the crowd, or found no connection: the caller asks again.
      return answer.status === 409 || answer.status === 503 ? again() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 50 }, again));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const ids = new Set(answers.map((answer) => answer.body.send_id));
    expect(ids.size).toBe(1);
    expect(
      answers.filter(({ headers }) => headers.get('idempotent-replay') === null).length,
    ).toBeLessThanOrEqual(1);
    await settled(api, [...ids][0] ?? '', 'sent');
    expect(world.mail.to(address)).toHaveLength(1);
  });

  it('answers a key for ever: the same body again, another refused, another organization’s not at all', async () => {
    const [{ api }, other] = [world.organization(), world.organization()];
    const [key, body] = [randomUUID(), aSend({ not_before: LATER() })];
    const first = await post(api, body, key);
    const replay = await post(api, { ...body }, `"${key}"`);
    expect(replay).toMatchObject({ status: 202, body: first.body });
    expect(replay.headers.get('idempotent-replay')).toBe('true');
    expect(await post(api, aSend(), key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    expect((await post(other.api, body, key)).body.send_id).not.toBe(first.body.send_id);
    const [kept] = await world.database.query('SELECT expires_at FROM idempotency_keys WHERE body LIKE $1', [
      `%${first.body.send_id}%`,
    ]);
    expect(kept).toEqual({ expires_at: null });
  });

  it('answers a key as before once its times have passed and channel and template are gone', async () => {
    const { api } = world.organization();
    const clock = world.app.app.get(Clock);
    const templateId = await template(api, { locales: { es: { subject: 'x', text: 'y' } } });
    const times = { not_before: LATER(), expires_at: new Date(Date.now() + 7_200_000).toISOString() };
    const body = aSend({ content: undefined, template_id: templateId, ...times });
    const key = randomUUID();
    const first = await post(api, body, key);
    expect(first).toMatchObject({ status: 202, body: { state: 'accepted' } });
    expect((await api.delete(`/v1/messaging/templates/${templateId}`)).status).toBe(204);
    const off = await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: {} } });
    expect(off.status).toBe(200);
    const real = clock.now.bind(clock);
    clock.now = () => new Date(Date.now() + 86_400_000);
    try {
      const replay = await post(api, body, key);
      expect(replay).toMatchObject({ status: 202, body: first.body });
      expect(replay.headers.get('idempotent-replay')).toBe('true');
      expect(await post(api, body)).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/expires_at', code: 'out_of_range' }] },
      });
    } finally {
      clock.now = real;
    }
  });

  it('422 recipient_suppressed with the send it stored; the key answers so even after a lift', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    await api.post('/v1/messaging/suppressions', { channel: 'email', address });
    const [key, body] = [randomUUID(), aSend({ recipient: { address } })];
    const refused = await post(api, body, key);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'recipient_suppressed', state: 'suppressed' },
    });
    expect((await settled(api, refused.body.send_id, 'suppressed')).attempts).toBe(0);
    expect((await history(api, refused.body.send_id)).map(({ state }) => state)).toEqual(['suppressed']);
    await api.delete(`/v1/messaging/suppressions?channel=email&address=${encodeURIComponent(address)}`);
    const replay = await post(api, body, key);
    expect(replay).toMatchObject({ status: 422, body: { send_id: refused.body.send_id } });
    expect(replay.headers.get('idempotent-replay')).toBe('true');
    expect((await post(api, body)).status).toBe(202);
  });

  it('stores nothing of a refused validation: its key is free', async () => {
    const { api } = world.organization();
    const key = randomUUID();
    expect((await post(api, aSend({ content: { subject: 'x' } }), key)).status).toBe(400);
    expect((await post(api, aSend({ not_before: LATER() }), key)).status).toBe(202);
  });

  it('fails a send whose template cannot be rendered with its data', async () => {
    const { api } = world.organization();
    const id = await send(api, aSend({ content: { subject: '{{ data.nobody }}', text: 'x' } }));
    expect(await settled(api, id, 'failed')).toMatchObject({ reason: 'render_failed' });
  });

  it('pins the version it was accepted with', async () => {
    const { api } = world.organization();
    const templateId = await template(api, { locales: { es: { subject: 'One', text: 'x' } } });
    const id = await send(api, aSend({ content: undefined, template_id: templateId, not_before: LATER() }));
    await api.patch(`/v1/messaging/templates/${templateId}`, { locales: { es: { subject: 'Two' } } });
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);
    expect((await settled(api, id, 'sent')).subject).toBe('One');
  });
});

describe('GET /v1/messaging/sends', () => {
  it('is a timeline source: everything before a pair, once', async () => {
    const { api } = world.organization();
    for (let n = 0; n < 5; n += 1) await send(api, aSend({ not_before: LATER() }));
    const all = (await api.get<{ data: ShownSend[] }>(SENDS)).body.data;
    expect(all).toHaveLength(5);
    const middle = all[2];
    const before = await api.get<{ data: ShownSend[] }>(
      `${SENDS}?sort=-occurred_at&before_occurred_at=${middle?.occurred_at}&before_id=${middle?.id}`,
    );
    expect(before.body.data.map(({ id }) => id)).toEqual(all.slice(3).map(({ id }) => id));
    const none = await api.get<{ data: ShownSend[] }>(`${SENDS}?occurred_at[lt]=${all[4]?.occurred_at}`);
    expect(none.body.data).toEqual([]);
  });

  it('filters by any spelling of the address, state, channel and correlation id', async () => {
    const { api } = world.organization();
    const id = await send(api, aSend({ recipient: { address: 'ana@bücher.example' }, not_before: LATER() }));
    await send(api, aSend({ not_before: LATER() }));
    const ids = async (query: string): Promise<string[]> =>
      (await api.get<{ data: ShownSend[] }>(`${SENDS}?${query}`)).body.data.map((one) => one.id);
    expect(await ids(`address=${encodeURIComponent('ANA@XN--BCHER-KVA.example')}`)).toEqual([id]);
    expect(await ids('address=nobody')).toEqual([]);
    expect(await ids('state=sent')).toEqual([]);
    expect(await ids('state[in]=accepted,sent&channel=email&limit=1')).toHaveLength(1);
    expect(await ids(`correlation_id=${randomUUID()}`)).toEqual([]);
    expect(await api.get(`${SENDS}?stat=sent`)).toMatchObject({
      status: 400,
      body: { code: 'unknown_parameter' },
    });
    expect(await api.get(`${SENDS}?state=flying`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_filter' },
    });
    expect(await api.get(`${SENDS}?limit=0`)).toMatchObject({ status: 400, body: { code: 'invalid_limit' } });
    expect(await api.get(`${SENDS}?cursor=x`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    expect(await api.get(`${SENDS}?sort=address`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_sort' },
    });
  });

  it('shows another organization nothing, by whatever route', async () => {
    const [mine, other] = [world.organization(), world.organization()];
    const id = await send(mine.api, aSend({ not_before: LATER() }));
    expect((await other.api.get<{ data: [] }>(`${SENDS}?id=${id}`)).body.data).toEqual([]);
    expect(await other.api.get(`${SENDS}/${id}/history`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await mine.api.get(`${SENDS}/${randomUUID()}/history`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await mine.api.get(`${SENDS}/x/history`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_id' },
    });
  });

  it.each([
    ['POST', SENDS, 'messaging.sends.create'],
    ['GET', SENDS, 'messaging.sends.read'],
    ['GET', `${SENDS}/${randomUUID()}/history`, 'messaging.sends.read'],
  ] as const)('%s %s needs %s', async (method, path, permission) => {
    const { id } = world.organization();
    const options = method === 'POST' ? { body: {}, headers: { 'idempotency-key': randomUUID() } } : {};
    const others = world.app.as(
      id,
      PERMISSIONS.filter((one) => one !== permission),
    );
    expect(await others.call(method, path, options)).toMatchObject({ status: 403, body: { permission } });
    expect((await world.app.as(id, [permission]).call(method, path, options)).status).not.toBe(403);
  });

  it('404 route_not_found for what is not there, 405 for another verb', async () => {
    const { api } = world.organization();
    expect(await api.get('/v1/messaging/newsletters')).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
    expect(await api.delete(SENDS)).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(await api.delete(`${SENDS}/${randomUUID()}`)).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
  });
});

describe('the history', () => {
  it.each(['UPDATE send_history SET state = state', 'DELETE FROM send_history', 'TRUNCATE send_history'])(
    'refuses %s, even to the database’s owner',
    async (sql) => {
      const { api } = world.organization();
      await send(api, aSend({ not_before: LATER() }));
      await expect(world.database.query(sql)).rejects.toThrow(/takes INSERT only/);
    },
  );

  it('never shows a step that the table of states does not have', async () => {
    const steps = await world.database.query<{ send_id: string; state: (typeof SEND_STATES)[number] }>(
      'SELECT send_id, state FROM send_history ORDER BY send_id, id',
    );
    const bySend = Map.groupBy(steps, ({ send_id }) => send_id);
    expect(bySend.size).toBeGreaterThan(5);
    for (const [, own] of bySend) {
      own.slice(1).forEach(({ state }, index) => {
        const from = own[index]?.state;
        expect([from, state, from !== undefined && mayFollow(from, state)]).toEqual([from, state, true]);
      });
    }
    const final = await world.database.query<{ state: (typeof SEND_STATES)[number] }>(
      'SELECT DISTINCT state FROM sends WHERE due_at IS NULL',
    );
    for (const { state } of final) expect(isFinal(state)).toBe(true);
  });
});
