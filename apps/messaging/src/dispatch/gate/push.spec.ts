import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import { eventually, InternalPeer, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aRecordedEvent,
  aSend,
  messagingWorld,
  oneSendOf,
  send,
  settled,
  shown,
  template,
  toldDevices,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';

const MINUTE = 60_000;

const provider = new Provider();
const tokens = new Map<string, string>();
let core: InternalPeer;
let world: MessagingWorld;
let now = new Date();
beforeAll(async () => {
  await provider.start();
  core = await InternalPeer.start({
    'POST /internal/contacts/devices': (body) => toldDevices(body, (id) => tokens.get(id)),
  });
  world = await messagingWorld({ env: { CORE_INTERNAL_URL: core.url } });
  world.app.app.get(Clock).now = () => now;
});
beforeEach(() => {
  core.outage(false);
  now = new Date();
});
afterAll(async () => {
  await world.close();
  await core.close();
  await provider.stop();
});

interface Shop {
  readonly organizationId: string;
  readonly api: Caller;
  readonly contact: ReturnType<typeof aContact>;
}

/** With push by a provider, and a contact whose device core knows if it has a token. */
async function shop(token: string | undefined, settings: Record<string, unknown> = {}): Promise<Shop> {
  const { id: organizationId, api } = world.organization();
  const push = { provider: 'http', url: `${provider.url}/in`, secret: `whsec_${'A'.repeat(32)}` };
  const put = await api.call('PUT', '/v1/messaging/channel-settings', {
    body: { channels: { push }, ...settings },
  });
  expect(put.status).toBe(200);
  const contact = aContact({ timezone: null });
  if (token !== undefined) tokens.set(contact.id, token);
  await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId,
    data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
  });
  await eventually(async () => {
    expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id])).toHaveLength(1);
  });
  return { organizationId, api, contact };
}

async function routed({ organizationId, api, contact }: Shop): Promise<ShownSend> {
  const rule = await api.post('/v1/messaging/event-routing', {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'push',
    template_id: await template(api, { channel: 'push', locales: { es: { title: 'Hola', body: 'x' } } }),
  });
  expect(rule.status).toBe(201);
  const event = aRecordedEvent(organizationId, contact);
  await world.probe.publish(event);
  return oneSendOf(api, event.correlationId);
}

describe('a push that an event leads to', () => {
  it('goes to the device that core knows', async () => {
    const token = randomUUID();
    const one = await shop(token);
    const { id } = await routed(one);
    expect(await settled(one.api, id, 'sent', 'failed')).toMatchObject({
      state: 'sent',
      address: token,
      contact_id: one.contact.id,
    });
  });

  it('fails for a contact without a device', async () => {
    const one = await shop(undefined);
    const { id } = await routed(one);
    expect(await settled(one.api, id, 'failed')).toMatchObject({ reason: 'recipient_unreachable' });
  });
});

describe('a push that was held while core is silent', () => {
  const waiting = async (id: string): Promise<void> => {
    await eventually(async () => {
      const [row] = await world.database.query('SELECT waiting_since FROM sends WHERE id = $1', [id]);
      expect(row?.['waiting_since']).toBeInstanceOf(Date);
    });
  };

  async function held(): Promise<{ api: Caller; id: string; until: Date }> {
    const quiet = { start: '22:00', end: '08:00', timezone: 'UTC' };
    now = new Date(Date.UTC(2027, 0, 10, 23, 0));
    const { api, contact } = await shop(randomUUID(), { quiet_hours: quiet });
    const content = { title: 'x', body: 'y' };
    const recipient = { contact_id: contact.id };
    const id = await send(api, aSend({ channel: 'push', recipient, content, category: 'marketing' }));
    await settled(api, id, 'held');
    // As after a merge: core has to be asked.
    await world.database.query('UPDATE contacts SET devices_known = NULL WHERE id = $1', [contact.id]);
    return { api, id, until: new Date(Date.UTC(2027, 0, 11, 8, 0)) };
  }

  it('waits for its word and leaves when it has come', async () => {
    const { api, id, until } = await held();
    core.outage(true);
    now = until;
    await waiting(id);
    expect((await shown(api, id)).state).toBe('gated');
    core.outage(false);
    now = new Date(until.getTime() + 14 * MINUTE);
    await settled(api, id, 'sent');
    const [row] = await world.database.query('SELECT waiting_since FROM sends WHERE id = $1', [id]);
    expect(row).toEqual({ waiting_since: null });
  });

  it('fails when it has waited 15 minutes', async () => {
    const { api, id, until } = await held();
    core.outage(true);
    now = until;
    await waiting(id);
    now = new Date(until.getTime() + 15 * MINUTE);
    expect(await settled(api, id, 'failed')).toMatchObject({ reason: 'recipient_unreachable' });
  });
});
