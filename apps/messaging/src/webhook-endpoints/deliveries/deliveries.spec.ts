import { Clock, newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually, type Caller } from '@customer-platform/testing';
import { Webhook } from 'standardwebhooks';
import {
  aContact,
  aSend,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { WebhookReceiver, type Received } from '../webhook-receiver.fixture.js';
import { DeliveryQueue } from './delivery-queue.js';

const ENDPOINTS = '/v1/messaging/webhook-endpoints';
const HOUR = 3_600_000;

interface Delivery {
  event_id: string;
  type: string;
  state: string;
  attempts: number;
  status_code: number | null;
  error: string | null;
  next_attempt_at: string | null;
}

interface Shown {
  id: string;
  secret: string;
  enabled: boolean;
  disabled_reason: string | null;
  recent_deliveries: Delivery[];
}

let world: MessagingWorld;
let receiver: WebhookReceiver;
let ahead = 0;
beforeAll(async () => {
  world = await messagingWorld();
  receiver = new WebhookReceiver();
  await receiver.start();
  world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
  world.probe.collect('messaging');
});
beforeEach(() => {
  ahead = 0;
  receiver.answer = (response) => response.writeHead(204).end();
});
afterAll(async () => {
  await receiver.stop();
  await world.close();
});

async function endpoint(
  api: Caller,
  fields: Record<string, unknown> = {},
): Promise<Shown & { path: string }> {
  const path = `/${newId()}`;
  const answer = await api.post<Shown>(ENDPOINTS, {
    name: path,
    url: receiver.url(path),
    events: ['core.contact.created'],
    ...fields,
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return { ...answer.body, path };
}

async function shown(api: Caller, id: string): Promise<Shown> {
  return (await api.get<Shown>(`${ENDPOINTS}/${id}`)).body;
}

/** The one delivery of an endpoint, once it is as expected. */
function delivery(api: Caller, id: string, expected: Partial<Delivery>): Promise<Delivery> {
  return eventually(
    async () => {
      const { recent_deliveries: found } = await shown(api, id);
      expect(found).toEqual([expect.objectContaining(expected)]);
      return found[0] as Delivery;
    },
    { within: 20_000 },
  );
}

async function publish(organizationId: string, contact = aContact()): Promise<string> {
  const [event] = await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId,
    data: { contact_id: contact.id, version: 1, changed_fields: ['email'], contact },
  });
  return event?.id ?? '';
}

function arrived(path: string, count = 1): Promise<Received[]> {
  return eventually(
    () => {
      const found = receiver.at(path);
      expect(found.length).toBeGreaterThanOrEqual(count);
      return found;
    },
    { within: 20_000 },
  );
}

function verify(secret: string, { headers, body }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

describe('webhooks out', () => {
  it('tell an event once, signed by Standard Webhooks, without addresses', async () => {
    const { id, api } = world.organization();
    const { path, secret, id: endpointId } = await endpoint(api);
    const contact = aContact({
      phone: '+56911111111',
      external_id: 'ana@example.com',
      attributes: { plan: 'gold' },
    });
    const eventId = await publish(id, contact);
    const [received] = await arrived(path);
    if (!received) throw new Error('nothing came');
    expect(received.headers['webhook-id']).toBe(eventId);
    const payload = verify(secret, received);
    expect(payload).toMatchObject({
      type: 'core.contact.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      data: {
        contact_id: contact.id,
        contact: {
          email: null,
          phone: null,
          external_id: null,
          first_name: 'Ana',
          attributes: { plan: 'gold' },
        },
      },
    });
    expect(Object.keys(payload as object).sort()).toEqual(['data', 'timestamp', 'type']);
    expect(received.body).not.toMatch(/@|\+569/);
    expect(() => verify(secret, { ...received, body: `${received.body} ` })).toThrow();
    await delivery(api, endpointId, {
      event_id: eventId,
      type: 'core.contact.created',
      state: 'delivered',
      attempts: 1,
      status_code: 204,
      error: null,
      next_attempt_at: null,
    });
  });

  it('tell a repeated event no second time, and each endpoint by itself', async () => {
    const { id, api } = world.organization(PERMISSIONS);
    const [one, other, deaf] = [
      await endpoint(api),
      await endpoint(api, { events: ['core.*'] }),
      await endpoint(api, { events: ['crm.*', 'core.contact.updated'] }),
    ];
    const event = { type: 'core.contact.created.v1', organizationId: id, id: newId() } as const;
    const contact = aContact();
    const data = { contact_id: contact.id, version: 1, changed_fields: [], contact };
    await world.probe.publish({ ...event, data }, { ...event, data });
    const last = await publish(id);
    await arrived(one.path, 2);
    await arrived(other.path, 2);
    for (const { path } of [one, other]) {
      expect(
        receiver
          .at(path)
          .map(({ headers }) => headers['webhook-id'])
          .sort(),
      ).toEqual([event.id, last].sort());
    }
    expect(receiver.at(deaf.path)).toEqual([]);
  });

  it('tell messaging’s own events, and nobody else’s organization', async () => {
    const { api } = world.organization(PERMISSIONS);
    const { path } = await endpoint(api, { events: ['messaging.*'] });
    const stranger = await endpoint(world.organization(PERMISSIONS).api, { events: ['messaging.*'] });
    const sendId = await send(api, aSend({ content: { subject: 'Between us', text: 'Secret words.' } }));
    await settled(api, sendId, 'sent');
    const types = () => receiver.at(path).map(({ body }) => (JSON.parse(body) as { type: string }).type);
    await eventually(() => expect(types()).toContain('messaging.send.sent'));
    expect(types()).toEqual(
      expect.arrayContaining(['messaging.send.accepted', 'messaging.send.dispatching']),
    );
    for (const { body } of receiver.at(path)) expect(body).not.toMatch(/@|Secret|Between us/);
    expect(receiver.at(stranger.path)).toEqual([]);
  });

  it('sign with both secrets for 24 h after a rotation, then with the new one alone', async () => {
    const { id, api } = world.organization();
    const { path, secret, id: endpointId } = await endpoint(api);
    const rotated = await api.patch<Shown>(`${ENDPOINTS}/${endpointId}`, { rotate_secret: true });
    await publish(id);
    const [during] = await arrived(path);
    if (!during) throw new Error('nothing came');
    verify(secret, during);
    verify(rotated.body.secret, during);
    ahead = 24 * HOUR + 1_000;
    await publish(id);
    const [, after] = await arrived(path, 2);
    expect(String(after?.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('come again under the same id with a fresh timestamp, and obey Retry-After', async () => {
    const { id, api } = world.organization();
    const { path, secret, id: endpointId } = await endpoint(api);
    receiver.answer = (response) => response.writeHead(503, { 'retry-after': '60' }).end();
    const eventId = await publish(id);
    const failed = await delivery(api, endpointId, { state: 'pending', attempts: 1, status_code: 503 });
    expect(failed.error).toBe('status_not_2xx');
    expect(Date.parse(failed.next_attempt_at ?? '') - Date.now()).toBeGreaterThan(50_000);
    receiver.answer = (response) => response.writeHead(200).end('thanks');
    ahead = 61_000;
    const [first, second] = await arrived(path, 2);
    if (!first || !second) throw new Error('it did not come twice');
    expect([first, second].map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
    expect(second.body).toBe(first.body);
    verify(secret, second);
    expect(
      Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp']),
    ).toBeGreaterThan(59);
    await delivery(api, endpointId, { state: 'delivered', attempts: 2, status_code: 200 });
  });

  it('follow no redirect', async () => {
    const { id, api } = world.organization();
    const { path, id: endpointId } = await endpoint(api);
    const elsewhere = `/${newId()}`;
    receiver.answer = (response) => response.writeHead(307, { location: receiver.url(elsewhere) }).end();
    await publish(id);
    await delivery(api, endpointId, { state: 'pending', status_code: 307, error: 'redirect_not_followed' });
    expect(receiver.at(path)).toHaveLength(1);
    expect(receiver.at(elsewhere)).toEqual([]);
  });

  it('end an endpoint that answers 410, with an event for the others, and keep what waits', async () => {
    const { id, api } = world.organization();
    const { id: endpointId, path } = await endpoint(api);
    const witness = await endpoint(api);
    receiver.answer = (response, { path: at }) => response.writeHead(at === path ? 410 : 204).end();
    await publish(id);
    await eventually(async () =>
      expect(await shown(api, endpointId)).toMatchObject({
        enabled: false,
        disabled_reason: 'gone',
        recent_deliveries: [{ state: 'failed', status_code: 410, next_attempt_at: null }],
      }),
    );
    await arrived(witness.path, 1);
    const [event] = await world.probe.expectEvents('messaging.webhook_endpoint.disabled.v1', id, 1);
    expect(event?.data).toEqual({ webhook_endpoint_id: endpointId, reason: 'gone' });
    const audited = await world.database.query(
      `SELECT actor_type, changed_fields FROM audit_entries WHERE resource_id = $1 AND actor_type = 'system'`,
      [endpointId],
    );
    expect(audited).toEqual([{ actor_type: 'system', changed_fields: ['enabled', 'disabled_reason'] }]);
    await publish(id);
    await arrived(witness.path, 2);
    receiver.answer = (response) => response.writeHead(204).end();
    await api.patch(`${ENDPOINTS}/${endpointId}`, { enabled: true });
    const later = await publish(id);
    await eventually(() => expect(receiver.at(path).at(-1)?.headers['webhook-id']).toBe(later));
    expect(receiver.at(path)).toHaveLength(2);
  });

  it('end an endpoint after five days of failures, not before, and forget them at a success', async () => {
    const { id, api } = world.organization();
    const { id: endpointId } = await endpoint(api);
    const answerWith = (status: number) => (receiver.answer = (response) => response.writeHead(status).end());
    const tried = async (state: string) => {
      const eventId = await publish(id);
      await eventually(async () => {
        const { recent_deliveries: found } = await shown(api, endpointId);
        expect(found.find(({ event_id }) => event_id === eventId)).toMatchObject({ state });
        expect(found.every(({ attempts }) => attempts > 0)).toBe(true);
      });
    };
    answerWith(500);
    await tried('pending');
    ahead = 24 * HOUR;
    answerWith(200);
    await tried('delivered');
    answerWith(500);
    for (let day = 1; day <= 5; day += 1) {
      ahead = day * 24 * HOUR;
      await tried('pending');
      expect(await shown(api, endpointId)).toMatchObject({ enabled: true });
    }
    ahead = 6 * 24 * HOUR + 60_000;
    await publish(id);
    await eventually(async () =>
      expect(await shown(api, endpointId)).toMatchObject({ enabled: false, disabled_reason: 'failing' }),
    );
  });

  it('wait while the endpoint is disabled and go on when it is enabled', async () => {
    const { id, api } = world.organization();
    const { path, id: endpointId } = await endpoint(api);
    receiver.answer = (response) => response.writeHead(500).end();
    const eventId = await publish(id);
    await delivery(api, endpointId, { state: 'pending', attempts: 1 });
    await api.patch(`${ENDPOINTS}/${endpointId}`, { enabled: false });
    const [told] = await world.probe.expectEvents('messaging.webhook_endpoint.disabled.v1', id, 1);
    expect(told?.data).toEqual({ webhook_endpoint_id: endpointId, reason: 'manual' });
    await delivery(api, endpointId, { state: 'paused', next_attempt_at: null });
    receiver.answer = (response) => response.writeHead(204).end();
    await api.patch(`${ENDPOINTS}/${endpointId}`, { enabled: true });
    const [, again] = await arrived(path, 2);
    expect(again?.headers['webhook-id']).toBe(eventId);
    await delivery(api, endpointId, { state: 'delivered', attempts: 2 });
  });

  it('have at most ten tries of one endpoint under way, and leave others alone', async () => {
    const { id, api } = world.organization();
    const hanging = new WebhookReceiver();
    await hanging.start();
    hanging.answer = () => undefined;
    try {
      await endpoint(api, { url: hanging.url() });
      const { path } = await endpoint(api);
      await Promise.all(Array.from({ length: 30 }, () => publish(id)));
      await arrived(path, 30);
      await eventually(() => expect(hanging.received).toHaveLength(10));
      expect(hanging.mostOpen).toBe(10);
    } finally {
      await hanging.stop();
    }
  });

  it('are taken over from a process that died with them', async () => {
    const { id, api } = world.organization();
    const { path, id: endpointId } = await endpoint(api);
    // Claimed as by another process that never comes back; the one under test looks only when told that time has passed.
    const queue = world.app.app.get(DeliveryQueue);
    const claim = queue.claim.bind(queue);
    let stolen = 0;
    queue.claim = async (most) => {
      const claimed = await claim(most);
      const mine = claimed.filter((one) => one.endpoint_id !== endpointId || stolen > 0);
      stolen += claimed.length - mine.length;
      return mine;
    };
    try {
      const eventId = await publish(id);
      await eventually(() => expect(stolen).toBe(1));
      expect(receiver.at(path)).toEqual([]);
      ahead = 31_000;
      const [received] = await arrived(path);
      expect(received?.headers['webhook-id']).toBe(eventId);
      await delivery(api, endpointId, { state: 'delivered', attempts: 1 });
    } finally {
      queue.claim = claim;
    }
  });
});
