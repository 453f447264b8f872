import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { PERMISSIONS_OF_CHANNELS } from '../../vocabulary/makers/carried-permissions.js';
import { aSend, messagingWorld, send, settled, shown, type MessagingWorld } from '../../messaging.fixture.js';

const SETTINGS = '/v1/messaging/channel-settings';
const WRITES: readonly Permission[] = ['messaging.channels.read', 'messaging.channels.update'];
const WITHIN = { within: 20_000 };

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

const put = (api: Caller, body: object) => api.call<Shown>('PUT', SETTINGS, { body });

interface Shown {
  channels: Record<string, Record<string, unknown>>;
  maker: { type: string; id: string } | null;
  standing: string | null;
}

const OWN = { provider: 'http', url: 'http://127.0.0.1:9/read', secret: `whsec_${'A'.repeat(32)}` };

/** Mail by the sink, as a server of the organization's own. */
function mail(overrides: Record<string, unknown> = {}) {
  const { port } = new URL(world.mail.url);
  const from = 'Shop <hello@shop.example>';
  return { provider: 'smtp', from, host: 'localhost', port: Number(port), security: 'none', ...overrides };
}

interface Maker {
  id: string;
  key: string;
  api: Caller;
  /** Somebody else of the organization, who may do everything. */
  other: Caller;
}

async function aMaker(): Promise<Maker> {
  const { id, api: other } = world.organization();
  const key = world.app.registry.key({
    organizationId: id,
    permissions: [...WRITES, ...PERMISSIONS_OF_CHANNELS],
  });
  const api = world.app.with(key);
  const made = await put(api, { channels: { email: mail() } });
  expect(made).toMatchObject({ status: 200, body: { standing: 'permitted' } });
  return { id, key, api, other };
}

const standingOf = async ({ other }: Maker): Promise<Shown> => (await other.get<Shown>(SETTINGS)).body;

/** The key may only change settings, and the service has heard of it. */
async function lessen({ key, api }: Maker): Promise<void> {
  world.app.registry.permit(key, ['messaging.channels.update']);
  await eventually(async () => expect((await api.get(SETTINGS)).status).toBe(403), WITHIN);
}

const dueNow = (id: string): Promise<unknown> =>
  world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);

/** A send that was looked at and put off. */
async function waiting(api: Caller): Promise<string> {
  const id = await send(api, aSend());
  await eventually(async () => {
    const [row] = await world.database.query<{ waits: boolean }>(
      `SELECT claim IS NULL AND due_at > created_at + interval '10 seconds' AS waits FROM sends WHERE id = $1`,
      [id],
    );
    expect(row?.waits).toBe(true);
  }, WITHIN);
  expect(['accepted', 'rendering', 'gated']).toContain((await shown(api, id)).state);
  return id;
}

describe('who cannot read messages', () => {
  it('has none of them given to an account of their own', async () => {
    const { api } = world.organization(['messaging.channels.update']);
    const problem = expectProblem(await put(api, { channels: { push: OWN } }), 403, 'privilege_escalation');
    expect(problem).toMatchObject({ missing: [...PERMISSIONS_OF_CHANNELS].sort() });
  });

  it.each(PERMISSIONS_OF_CHANNELS)(
    'without %s: 403 for another account, secret, or adoption',
    async (permission) => {
      const { id, api } = world.organization();
      const document = { channels: { email: mail({ username: 'shop', password: 'one' }), push: OWN } };
      expectStatus(await put(api, document), 200);
      const less = world.app.as(
        id,
        [...WRITES, ...PERMISSIONS_OF_CHANNELS].filter((one) => one !== permission),
      );
      const { email, push } = document.channels;
      for (const changed of [
        { channels: { email, push: { ...OWN, url: 'http://127.0.0.1:9/mine' } } },
        { channels: { email, push: { ...OWN, secret: `whsec_${'B'.repeat(32)}` } } },
        { channels: { email, push, sms: { ...OWN, from: '+15005550006' } } },
        { channels: { email: { ...email, host: '127.0.0.2' }, push } },
        { channels: { email: { ...email, password: 'two' }, push } },
        { channels: { email: { ...email, username: 'mine' }, push } },
        { ...document, adopt: true },
      ])
        expect(expectProblem(await put(less, changed), 403, 'privilege_escalation')).toMatchObject({
          missing: [permission],
        });
    },
  );

  it('may change all else, put back what was read, and turn channels off and on', async () => {
    const maker = await aMaker();
    const { maker: before } = await standingOf(maker);
    expect(before).toEqual({ type: 'api_key', id: world.app.registry.idOf(maker.key) });
    const less = world.app.as(maker.id, WRITES);
    const { body } = await less.get<Shown>(SETTINGS);
    expectStatus(await put(less, body), 200);
    const email = mail({ max_per_second: 5, reply_to: 'help@shop.example', consent_mode: 'opt_in' });
    const caps = [{ channel: 'email', limit: 3, window: 'week' }];
    expectStatus(await put(less, { channels: { email, in_app: {} }, caps }), 200);
    expectStatus(await put(less, { channels: { email: { ...email, enabled: false } } }), 200);
    expectStatus(await put(less, { channels: { email } }), 200);
    expect(await standingOf(maker)).toMatchObject({ maker: before, standing: 'permitted' });
  });
});

it('an audit row names what was changed: `channels` for an account or a secret, `maker` for who answers for it', async () => {
  const maker = await aMaker();
  const changed = async (api: Caller, body: object): Promise<string[]> => {
    expectStatus(await put(api, body), 200);
    const [row] = await world.database.query<{ changed_fields: string[] }>(
      `SELECT changed_fields FROM audit_entries WHERE organization_id = $1 AND action = 'messaging.channels.update'
        ORDER BY id DESC LIMIT 1`,
      [maker.id],
    );
    return row?.changed_fields ?? [];
  };
  const email = mail({ username: 'shop' });
  expect(await changed(maker.api, { channels: { email } })).toEqual(['channels']);
  expect(await changed(maker.api, { channels: { email } })).toEqual([]);
  const caps = [{ channel: 'email', limit: 3, window: 'week' }];
  expect(await changed(maker.api, { channels: { email }, caps })).toEqual(['caps']);
  const secret = { channels: { email: { ...email, password: 'hunter2' } }, caps };
  expect(await changed(maker.api, secret)).toEqual(['channels']);
  expect(await changed(maker.api, secret)).toEqual([]);
  expect(await changed(maker.other, { channels: { email }, caps, adopt: true })).toEqual(['maker']);
});

describe('what leaves by channels whose maker cannot read it any more', () => {
  it('waits, is seen to, and goes on with who adopts them', async () => {
    const maker = await aMaker();
    await settled(maker.other, await send(maker.other, aSend()), 'sent');
    await lessen(maker);
    const id = await waiting(maker.other);
    const paused = await standingOf(maker);
    expect(paused.standing).toBe('not_permitted');
    const adopted = await put(maker.other, { ...paused, adopt: true });
    expect(adopted).toMatchObject({ status: 200, body: { standing: 'permitted' } });
    await dueNow(id);
    await settled(maker.other, id, 'sent');
  });

  it('goes on without a maker, and with one who was found without the right', async () => {
    const maker = await aMaker();
    const found = async (set: string): Promise<void> => {
      await world.database.query(`UPDATE channel_settings SET ${set} WHERE organization_id = $1`, [maker.id]);
    };
    await found('maker_type = NULL, maker_id = NULL, maker_since = NULL');
    await settled(maker.other, await send(maker.other, aSend()), 'sent');
    expect(await standingOf(maker)).toMatchObject({ standing: 'unowned', maker: null });
    await found(`maker_type = 'user', maker_id = '${newId()}', maker_since = NULL`);
    await settled(maker.other, await send(maker.other, aSend()), 'sent');
    expect(await standingOf(maker)).toMatchObject({ standing: 'unowned' });
    await found(`maker_type = 'api_key', maker_id = '${world.app.registry.idOf(maker.key)}'`);
    await settled(maker.other, await send(maker.other, aSend()), 'sent');
    await lessen(maker);
    await waiting(maker.other);
  });
});
