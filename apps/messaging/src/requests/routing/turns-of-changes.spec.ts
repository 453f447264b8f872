import { randomUUID } from 'node:crypto';
import { Database, newId, type WorkerTransaction } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { domainEvent, eventually, expectStatus } from '@customer-platform/testing';
import { ChannelFaults } from '../../settings/channels/channel-faults.js';
import { STILL_SUSPENDED } from '../../dispatch/gate/settlement.js';
import { messagingWorld, template, type MessagingWorld } from '../../messaging.fixture.js';
import { OrganizationStates } from '../../background/organizations/organization-states.js';
import { keepEndpoints } from '../../webhook-endpoints/deliveries/endpoint-locks.js';
import { DeliveryQueue } from '../../webhook-endpoints/deliveries/delivery-queue.js';
import { RuleCache } from './rule-cache.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

/** Waits until so many transactions wait for a turn, or for a row. */
const waiting = (count: number, what: 'advisory' | 'row' = 'advisory'): Promise<void> =>
  eventually(async () => {
    const rows = await world.database.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND (wait_event = 'advisory') = $1`,
      [what === 'advisory'],
    );
    expect(rows).toHaveLength(count);
  });

/** Somebody works by things as they are until `meanwhile` is over. */
async function beside(
  work: (tx: WorkerTransaction) => Promise<unknown>,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const working = world.app.app.get(Database).acrossOrganizations(async (tx) => {
    await work(tx);
    begun.resolve();
    await over.promise;
  });
  // Where it fails, it says so.
  await Promise.race([begun.promise, working]);
  try {
    await meanwhile();
  } finally {
    over.resolve();
    await working;
  }
}

describe('a change comes to its turn', () => {
  it('of a rule, though events keep being routed by it', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await api.post<{ id: string }>('/v1/messaging/event-routing', {
      name: `Rule ${randomUUID()}`,
      event_type: 'core.event.recorded',
      event_name: 'invoice_paid',
      channel: 'email',
      template_id: await template(api),
    });
    expectStatus(made, 201);
    const { app } = world.app;
    const route = async (tx: WorkerTransaction): Promise<number | undefined> => {
      const books = await app.get(RuleCache).booksOf(tx, [organizationId]);
      return books.get(organizationId)?.candidates('core.event.recorded', 'invoice_paid').length;
    };
    const both: Promise<unknown>[] = [];
    await beside(route, async () => {
      const changing = api.patch(`/v1/messaging/event-routing/${made.body.id}`, { enabled: false });
      both.push(changing.then((answer) => expectStatus(answer, 200)));
      await waiting(1);
      // It does not pass the one that waits, and finds what that has done.
      both.push(
        app
          .get(Database)
          .acrossOrganizations(route)
          .then((found) => expect(found).toBe(0)),
      );
      await waiting(2);
    });
    await Promise.all(both);
  });

  it('of a webhook endpoint, though events keep being put before it', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await api.post<{ id: string }>('/v1/messaging/webhook-endpoints', {
      name: `Endpoint ${randomUUID()}`,
      url: 'http://127.0.0.1:9/in',
      events: ['messaging.send.sent'],
    });
    expectStatus(made, 201);
    const event = {
      id: newId(),
      type: 'messaging.send.sent.v1',
      organizationid: organizationId,
      correlationid: newId(),
      time: new Date().toISOString(),
      data: {},
    } as unknown as DomainEvent;
    const queue = world.app.app.get(DeliveryQueue, { strict: false });
    const both: Promise<unknown>[] = [];
    await beside(
      (tx) => keepEndpoints(tx, [organizationId]),
      async () => {
        const changing = api.patch(`/v1/messaging/webhook-endpoints/${made.body.id}`, { enabled: false });
        both.push(changing.then((answer) => expectStatus(answer, 200)));
        await waiting(1);
        both.push(queue.enqueue('messaging.send.sent.v1', [event]));
        await waiting(2);
      },
    );
    await Promise.all(both);
    const told = await world.database.query(
      'SELECT state, error FROM webhook_deliveries WHERE organization_id = $1',
      [organizationId],
    );
    expect(told).toEqual([{ state: 'failed', error: 'endpoint_disabled' }]);
  });

  it('of an organization that is reactivated, though its sends keep being held', async () => {
    const { id: organizationId } = world.organization();
    const states = world.app.app.get(OrganizationStates, { strict: false });
    const state = (type: 'suspended' | 'reactivated') =>
      states.apply([
        domainEvent(`identity.organization.${type}.v1`, organizationId, { id: organizationId } as never),
      ]);
    await state('suspended');
    const hold = (tx: WorkerTransaction) => tx.query(STILL_SUSPENDED, [[organizationId]]);
    const both: Promise<unknown>[] = [];
    await beside(hold, async () => {
      both.push(state('reactivated'));
      await waiting(1, 'row');
      both.push(
        world.app.app
          .get(Database)
          .acrossOrganizations(hold)
          .then((rows) => expect(rows).toEqual([])),
      );
      await waiting(2, 'row');
    });
    await Promise.all(both);
  });

  it('of a channel’s settings, though faults keep being noted', async () => {
    const { id: organizationId } = world.organization();
    await world.database.query(
      `INSERT INTO channel_settings (organization_id, document, version, updated_at) VALUES ($1, '{}', 1, now())`,
      [organizationId],
    );
    const fault = {
      organizationId,
      channel: 'email',
      provider: 'smtp',
      stage: 'connect',
      code: null,
      version: 1,
      correlationId: newId(),
    };
    const note = (tx: WorkerTransaction) =>
      world.app.app.get(ChannelFaults, { strict: false }).note(tx, [fault as never], new Date());
    const database = world.app.app.get(Database);
    const both: Promise<unknown>[] = [];
    await beside(note, async () => {
      both.push(
        database.inOrganization({ organizationId }, (tx) =>
          tx.query('UPDATE channel_settings SET version = 2 WHERE organization_id = $1', [organizationId]),
        ),
      );
      await waiting(1, 'row');
      both.push(database.acrossOrganizations(note));
      await waiting(2, 'row');
    });
    await Promise.all(both);
  });
});
