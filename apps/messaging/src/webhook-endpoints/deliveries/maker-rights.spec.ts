import { jest } from '@jest/globals';
import { Clock, newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { eventually, expectStatus, type Caller } from '@customer-platform/testing';
import { aContact, messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { MakerRights } from '../../background/makers/maker-rights.js';
import { WebhookReceiver } from '../webhook-receiver.fixture.js';

const ENDPOINTS = '/v1/messaging/webhook-endpoints';
const ABLE: readonly Permission[] = [
  'messaging.webhooks.create',
  'messaging.webhooks.read',
  'messaging.webhooks.update',
  'core.contacts.read',
];
/** Neither what the event tells, nor the endpoint itself. */
const LESS = ABLE.filter((one) => one !== 'core.contacts.read' && one !== 'messaging.webhooks.read');
const WITHIN = { within: 20_000 };

let world: MessagingWorld;
let receiver: WebhookReceiver;
let ahead = 0;
beforeAll(async () => {
  world = await messagingWorld();
  receiver = new WebhookReceiver();
  await receiver.start();
  world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
});
beforeEach(() => {
  ahead = 0;
});
afterAll(async () => {
  await receiver.stop();
  await world.close();
});

interface Maker {
  id: string;
  key: string;
  api: Caller;
  /** Somebody else of the organization, who looks. */
  other: Caller;
}

function aMaker(permissions = ABLE, principal?: { type: 'oauth_client' | 'user'; id: string }): Maker {
  const { id, api: other } = world.organization(ABLE);
  const key = world.app.registry.key({
    organizationId: id,
    permissions,
    ...(principal ? { principal } : {}),
  });
  return { id, key, api: world.app.with(key), other };
}

async function endpoint(api: Caller, events = ['core.contact.created']) {
  const path = `/${newId()}`;
  const body = { name: path, url: receiver.url(path), events };
  const answer = await api.post<{ id: string }>(ENDPOINTS, body);
  expectStatus(answer, 201);
  return { id: answer.body.id, path };
}

async function publish(organizationId: string): Promise<string> {
  const contact = aContact();
  const [event] = await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId,
    data: { contact_id: contact.id, version: 1, changed_fields: ['email'], contact },
  });
  return event?.id ?? '';
}

interface Delivery {
  id: string;
  event_id: string;
  state: string;
  error: string | null;
  attempts: number;
}

function delivery(api: Caller, id: string, eventId: string, expected: Partial<Delivery>): Promise<string> {
  return eventually(async () => {
    const { body } = await api.get<{ recent_deliveries: Delivery[] }>(`${ENDPOINTS}/${id}`);
    const found = body.recent_deliveries.find(({ event_id }) => event_id === eventId);
    expect(found).toMatchObject(expected);
    return found?.id ?? '';
  }, WITHIN);
}

/** The change has come to the service, which keeps what it knows of a credential until then. */
function refused({ api }: Maker): Promise<void> {
  return eventually(async () => {
    const { status } = await api.get(ENDPOINTS);
    expect([401, 403]).toContain(status);
  }, WITHIN);
}

const toldOf = (path: string): unknown[] => receiver.at(path).map(({ headers }) => headers['webhook-id']);

describe('what the maker of an endpoint cannot read any more', () => {
  it.each<[string, (maker: Maker) => void]>([
    ['a permission taken from its role', ({ key }) => world.app.registry.permit(key, LESS)],
    ['its key revoked', ({ key }) => world.app.registry.revoke(key)],
  ])('is not delivered: %s', async (_how, lose) => {
    const maker = aMaker();
    const { id, path } = await endpoint(maker.api);
    const before = await publish(maker.id);
    await delivery(maker.other, id, before, { state: 'delivered' });
    lose(maker);
    await refused(maker);
    const after = await publish(maker.id);
    await delivery(maker.other, id, after, { state: 'failed', error: 'not_permitted' });
    expect(toldOf(path)).toEqual([before]);
    // Somebody who may read it takes it over.
    const moved = `/${newId()}`;
    expectStatus(await maker.other.patch(`${ENDPOINTS}/${id}`, { url: receiver.url(moved) }), 200);
    const later = await publish(maker.id);
    await delivery(maker.other, id, later, { state: 'delivered' });
    expect(toldOf(moved)).toEqual([later]);
  });

  it.each(['user', 'oauth_client'] as const)(
    'is not delivered to one of a %s that is nobody here any more',
    async (type) => {
      const maker = aMaker(ABLE, { type, id: newId() });
      const { id, path } = await endpoint(maker.api);
      world.app.registry.revoke(maker.key);
      await refused(maker);
      const lost = await publish(maker.id);
      await delivery(maker.other, id, lost, { state: 'failed', error: 'not_permitted' });
      expect(toldOf(path)).toEqual([]);
    },
  );

  it('is that of who acted as another, whatever the other may read', async () => {
    const [user, actor] = [newId(), newId()].map((id) => ({ type: 'user', id }) as const);
    if (!user || !actor) throw new Error('There are two');
    const maker = aMaker(ABLE, actor);
    const acting = { organizationId: maker.id, permissions: ABLE, principal: user, impersonatorId: actor.id };
    const asUser = world.app.with(world.app.registry.key(acting));
    const { id } = await endpoint(asUser);
    const path = `/${newId()}`;
    expectStatus(await asUser.patch(`${ENDPOINTS}/${id}`, { url: receiver.url(path) }), 200);
    const makers = await world.database.query(
      'SELECT maker_type, maker_id FROM webhook_endpoints WHERE id = $1',
      [id],
    );
    expect(makers).toEqual([{ maker_type: 'user', maker_id: actor.id }]);
    const before = await publish(maker.id);
    await delivery(maker.other, id, before, { state: 'delivered' });
    // Known to the service, like the maker: it forgets the one no sooner than the other.
    expectStatus(await maker.api.get(ENDPOINTS), 200);
    world.app.registry.revoke(maker.key);
    await refused(maker);
    const lost = await publish(maker.id);
    await delivery(maker.other, id, lost, { state: 'failed', error: 'not_permitted' });
    expect(toldOf(path)).toEqual([before]);
    const audited = await world.database.query(
      'SELECT DISTINCT actor_id, impersonator_id FROM audit_entries WHERE resource_id = $1',
      [id],
    );
    expect(audited).toEqual([{ actor_id: user.id, impersonator_id: actor.id }]);
  });

  it('of two subscriptions the other is told as before', async () => {
    const maker = aMaker([...ABLE, 'core.segments.read']);
    const { id, path } = await endpoint(maker.api, ['core.contact.created', 'core.segment.entered']);
    world.app.registry.permit(maker.key, ['core.contacts.read']);
    await refused(maker);
    const eventId = await publish(maker.id);
    await delivery(maker.other, id, eventId, { state: 'delivered' });
    const [segment] = await world.probe.publish({
      type: 'core.segment.entered.v1',
      organizationId: maker.id,
      data: { segment_id: newId(), contact_id: newId(), cause: 'event', at: new Date().toISOString() },
    });
    await delivery(maker.other, id, segment?.id ?? '', { state: 'failed', error: 'not_permitted' });
    expect(toldOf(path)).toEqual([eventId]);
  });

  it('is not told again either, whoever asks for it, until somebody who can read it answers for the endpoint', async () => {
    const maker = aMaker();
    const { id, path } = await endpoint(maker.api);
    const eventId = await publish(maker.id);
    const told = await delivery(maker.other, id, eventId, { state: 'delivered' });
    world.app.registry.permit(maker.key, LESS);
    await refused(maker);
    // By the maker, and by somebody who could read it and does not answer for where it goes.
    for (const api of [maker.api, maker.other]) {
      expectStatus(await api.post(`/v1/messaging/webhook-deliveries/${told}/redeliver`, {}), 202);
      await delivery(maker.other, id, eventId, { state: 'failed', error: 'not_permitted' });
    }
    expect(toldOf(path)).toEqual([eventId]);
    const moved = `/${newId()}`;
    expectStatus(await maker.other.patch(`${ENDPOINTS}/${id}`, { url: receiver.url(moved) }), 200);
    expectStatus(await maker.other.post(`/v1/messaging/webhook-deliveries/${told}/redeliver`, {}), 202);
    await delivery(maker.other, id, eventId, { state: 'delivered' });
    expect([toldOf(path), toldOf(moved)]).toEqual([[eventId], [eventId]]);
  });

  it('waits while the registry is silent, and is never told meanwhile', async () => {
    const maker = aMaker();
    const { id, path } = await endpoint(maker.api);
    const judge = jest.spyOn(world.app.app.get(MakerRights), 'judge');
    world.app.registry.outage(true);
    let eventId: string;
    try {
      eventId = await publish(maker.id);
      // What was claimed is given up, and claimed anew when its time has passed.
      await eventually(async () => expect(await judge.mock.results[0]?.value).toBe('unknown'), WITHIN);
      expect(toldOf(path)).toEqual([]);
    } finally {
      world.app.registry.outage(false);
      judge.mockRestore();
    }
    ahead = 31_000;
    await delivery(maker.other, id, eventId, { state: 'delivered', attempts: 1 });
    expect(toldOf(path)).toEqual([eventId]);
  });
});
