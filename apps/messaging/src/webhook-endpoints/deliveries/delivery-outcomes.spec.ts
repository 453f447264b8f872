import { randomUUID } from 'node:crypto';
import { Clock, newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { DatabaseFault, expectStatus } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { Deliverer } from './deliverer.js';
import { DeliveryOutcomes, type EndedTry } from './delivery-outcomes.js';
import { DeliveryQueue } from './delivery-queue.js';

let world: MessagingWorld;
let now = new Date();
beforeAll(async () => {
  // Nothing is delivered but by the tests.
  world = await messagingWorld({ consume: false, env: { PROCESS_ROLE: 'api' } });
  world.app.app.get(Clock).now = () => now;
});
afterAll(() => world.close());

/** An endpoint with a delivery that waits. */
async function anEndpoint(): Promise<string> {
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
    time: now.toISOString(),
    data: {},
  } as unknown as DomainEvent;
  await world.app.app.get(DeliveryQueue, { strict: false }).enqueue('messaging.send.sent.v1', [event]);
  return made.body.id;
}

async function tried(status: number): Promise<EndedTry[]> {
  const claimed = await world.app.app
    .get(DeliveryQueue, { strict: false })
    .claim((waiting) => waiting.map(({ free }) => free));
  return claimed.map((delivery) => ({ delivery, answer: { status } as EndedTry['answer'], at: now, ms: 1 }));
}

async function statesOf(...endpoints: string[]): Promise<unknown[]> {
  const rows = await world.database.query<{ endpoint_id: string; state: string }>(
    'SELECT endpoint_id, state FROM webhook_deliveries WHERE endpoint_id = ANY($1)',
    [endpoints],
  );
  return endpoints.map((id) => rows.find((row) => row.endpoint_id === id)?.state);
}

describe('an outcome of a webhook that cannot be written', () => {
  it.each([
    {
      what: 'its delivery',
      status: 204,
      table: 'webhook_deliveries',
      when: (id: string) => `NEW.endpoint_id = '${id}' AND NEW.claim IS NULL`,
      states: ['pending', 'delivered'],
      after: 'delivered',
    },
    {
      what: 'its endpoint, which is gone',
      status: 410,
      table: 'webhook_endpoints',
      when: (id: string) => `NEW.id = '${id}'`,
      states: ['pending', 'failed'],
      after: 'failed',
    },
  ])('keeps no other’s from being written: $what', async ({ status, table, when, states, after }) => {
    const endpoints = [await anEndpoint(), await anEndpoint()];
    const [failing = ''] = endpoints;
    const outcomes = world.app.app.get(DeliveryOutcomes, { strict: false });
    const fault = await DatabaseFault.in(world.database, { table, on: 'UPDATE', when: when(failing) });
    const ended = await tried(status);
    expect(ended).toHaveLength(2);
    await outcomes.record(ended);
    expect(await statesOf(...endpoints)).toEqual(states);
    await fault.mend();
    // Its claim has run out.
    now = new Date(now.getTime() + 3_600_000);
    await outcomes.record(await tried(status));
    expect(await statesOf(...endpoints)).toEqual([after, after]);
  });

  it('is tried apart from the others’ once it has failed, and nothing is told meanwhile', async () => {
    const endpoints = [await anEndpoint(), await anEndpoint(), await anEndpoint()];
    const [failing = '', ...others] = endpoints;
    const outcomes = world.app.app.get(DeliveryOutcomes, { strict: false });
    const deliverer = world.app.app.get(Deliverer, { strict: false });
    const fault = await DatabaseFault.in(world.database, {
      table: 'webhook_deliveries',
      on: 'UPDATE',
      when: `NEW.endpoint_id = '${failing}' AND NEW.claim IS NULL`,
    });
    const ended = await tried(204);
    await outcomes.record(ended);
    expect(await statesOf(...endpoints)).toEqual(['pending', 'delivered', 'delivered']);
    expect(outcomes.waits(failing)).toBe(true);
    await world.database.query('UPDATE webhook_deliveries SET due_at = $2 WHERE endpoint_id = $1', [
      failing,
      now,
    ]);
    expect(await deliverer['take']()).toBe(0);
    now = new Date(now.getTime() + 3_600_000);
    expect(outcomes.waits(failing)).toBe(false);
    const before = await fault.tries();
    await world.database.query(
      `UPDATE webhook_deliveries SET state = 'pending', due_at = $2 WHERE endpoint_id = ANY($1)`,
      [endpoints, now],
    );
    await outcomes.record(await tried(204));
    expect((await fault.tries()) - before).toBe(1);
    expect(await statesOf(...others)).toEqual(['delivered', 'delivered']);
    await fault.mend();
  });
});
