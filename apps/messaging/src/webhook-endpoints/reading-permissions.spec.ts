import { randomUUID } from 'node:crypto';
import { EVENT_TYPES } from '@customer-platform/events';
import { isPermission, type Permission } from '@customer-platform/permissions';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../messaging.fixture.js';
import { permissionsToRead } from '../vocabulary/makers/reading-permissions.js';
import { eventName, SUBSCRIPTIONS } from '../vocabulary/makers/subscriptions.js';

const ENDPOINTS = '/v1/messaging/webhook-endpoints';
const WRITES: readonly Permission[] = ['messaging.webhooks.create', 'messaging.webhooks.update'];

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

const anEndpoint = (events: readonly string[]) => ({
  name: randomUUID(),
  url: 'http://127.0.0.1:9/hooks',
  events,
});

it('every event is read by a permission of this build, and all of a module by those of all its events', () => {
  for (const type of EVENT_TYPES) {
    const needed = permissionsToRead(eventName(type));
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.filter((permission) => !isPermission(permission))).toEqual([]);
    expect(permissionsToRead(`${type.split('.')[0] ?? ''}.*`)).toEqual(expect.arrayContaining([...needed]));
  }
});

/** Each subscription with one of the permissions that it takes, by who holds all others of them. */
const WANTING = SUBSCRIPTIONS.flatMap((event) =>
  permissionsToRead(event).map((permission) => [event, permission] as const),
);

describe('who cannot read what an event tells', () => {
  it.each(WANTING)('%s without %s: 403, at creation and at a change', async (event, permission) => {
    const all = [...WRITES, ...permissionsToRead(event)];
    const { id, api } = world.organization(all.filter((one) => one !== permission));
    const told = { missing: [permission] };
    const refused = await api.post(ENDPOINTS, anEndpoint([event]));
    expect(expectProblem(refused, 403, 'privilege_escalation')).toMatchObject(told);
    const able = world.app.as(id, all);
    const { body } = await able.post<{ id: string }>(ENDPOINTS, anEndpoint([event]));
    const path = `${ENDPOINTS}/${body.id}`;
    // Neither another address for it, nor what was dropped before, nor another event beside it.
    for (const patch of [
      { url: 'http://127.0.0.1:9/mine' },
      { url: 'http://127.0.0.1:9/mine', events: [event] },
    ])
      expect(expectProblem(await api.patch(path, patch), 403, 'privilege_escalation')).toMatchObject(told);
    expectStatus(await api.patch(path, { name: randomUUID(), enabled: false, events: [event] }), 200);
    expectStatus(await able.patch(path, { url: 'http://127.0.0.1:9/ours' }), 200);
  });

  it('gets no further event on an endpoint of another, whatever they keep of it', async () => {
    const { id, api } = world.organization([...WRITES, 'messaging.sends.read', 'core.contacts.read']);
    const { body } = await api.post<{ id: string }>(ENDPOINTS, anEndpoint(['core.contact.created']));
    const path = `${ENDPOINTS}/${body.id}`;
    const weaker = world.app.as(id, [...WRITES, 'messaging.sends.read']);
    const events = ['core.contact.created', 'messaging.send.sent'];
    expectProblem(await weaker.patch(path, { events }), 403, 'privilege_escalation');
    // Less is another choice of events too: what is left is what they can read, and they are its maker.
    expectStatus(await weaker.patch(path, { events: ['messaging.send.sent'] }), 200);
  });
});
