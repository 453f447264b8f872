import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { jest } from '@jest/globals';
import { Tenants } from '@customer-platform/authorization';
import { Clock, newId } from '@customer-platform/database';
import { DatabaseFault, eventually } from '@customer-platform/testing';
import {
  aContact,
  messagingWorld,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';
import { EventWaits } from '../../people/event-waits/event-waits.repository.js';
import { MOST_TRIES, ORGANIZATIONS_AT_ONCE } from './waiting-events.js';

const HOUR_MS = 3_600_000;

/** A core that answers nobody before so many ask at the same time. */
class HesitantCore {
  readonly open = new Set<ServerResponse>();
  most = 0;
  /** All it is asked for then. */
  knows = false;
  private readonly server: Server = createServer((request, response) => {
    if (this.knows) void this.answer(request, response);
    this.open.add(response);
    response.on('close', () => this.open.delete(response));
    this.most = Math.max(this.most, this.open.size);
    if (this.knows || this.most < ORGANIZATIONS_AT_ONCE) return;
    for (const waiting of this.open)
      waiting.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
  });

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { ids } = (await json(request)) as { ids: string[] };
    const data = ids.map((id) => {
      const contact = { ...aContact(), id };
      return { id, state: 'active', merged_into: null, version: 1, contact };
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const core = new HesitantCore();
let world: MessagingWorld;
let ahead = 0;
beforeAll(async () => {
  world = await messagingWorld({ consume: false, env: { CORE_INTERNAL_URL: await core.start() } });
  world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
});
beforeEach(() => {
  ahead = 0;
});
afterAll(async () => {
  await world.close();
  await core.stop();
});

/** Events that wait, each for a contact of its own, whose patience ended an hour ago or ends in an hour; none is due. */
async function waits(
  organizationIds: readonly string[],
  { over = false, failures = 0 }: { over?: boolean; failures?: number } = {},
): Promise<string[]> {
  const rows = organizationIds.map((organizationId) => ({ organizationId, id: newId(), contactId: newId() }));
  const now = Date.now();
  await world.database.query(
    `INSERT INTO event_waits (organization_id, event_id, contact_id, event, until, due_at, created_at, failures)
     SELECT (e ->> 'organizationId')::uuid, (e ->> 'id')::uuid, (e ->> 'contactId')::uuid, e, $2, 'infinity', $3, $4
       FROM jsonb_array_elements($1::jsonb) AS e`,
    [
      JSON.stringify(
        rows.map((row) => ({
          ...row,
          correlationId: row.id,
          type: 'core.event.recorded',
          name: 'invoice_paid',
          data: { event: 'invoice_paid', properties: {} },
        })),
      ),
      new Date(now + (over ? -1 : 1) * HOUR_MS),
      new Date(now - 2 * HOUR_MS),
      failures,
    ],
  );
  return rows.map(({ id }) => id);
}

const due = (eventIds: readonly string[]) =>
  world.database.query('UPDATE event_waits SET due_at = now() WHERE event_id = ANY($1::uuid[])', [eventIds]);

async function anOrganizationWithARule() {
  const { id, api } = world.organization();
  const answer = await api.post('/v1/messaging/event-routing', {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'email',
    template_id: await template(api),
    recipient: { from: 'address', value: 'sales@example.com' },
  });
  expect(answer.status).toBe(201);
  return { id, api };
}

/** Has the database refuse sends of an event, until it is mended. */
const refuse = (eventId: string, which: string, code = 'P0001'): Promise<DatabaseFault> =>
  DatabaseFault.in(world.database, {
    table: 'sends',
    on: 'INSERT',
    when: `NEW.event_id = '${eventId}' AND ${which}`,
    code,
  });

const rowOf = async (eventId: string) =>
  (
    await world.database.query<{ failures: number; due_at: Date | number }>(
      'SELECT failures, due_at FROM event_waits WHERE event_id = $1',
      [eventId],
    )
  )[0];

describe('events that wait', () => {
  it('of several organizations ask core at the same time, of so many at most', async () => {
    await due(await waits(Array.from({ length: 3 * ORGANIZATIONS_AT_ONCE }, () => world.organization().id)));
    await eventually(() => expect(core.most).toBe(ORGANIZATIONS_AT_ONCE), { within: 20_000 });
  });

  it('of tenants are looked at in turn, however many organizations one of them has', async () => {
    const [tenant, neighbour] = [newId(), newId()];
    const children = Array.from({ length: 60 }, () => newId());
    for (const id of children) world.app.registry.organization(id, { tenant });
    world.app.registry.organization(neighbour, { tenant: neighbour });
    const tenants = world.app.app.get(Tenants, { strict: false });
    await eventually(() => {
      expect(new Set(children.map((id) => tenants.of(id)))).toEqual(new Set([tenant]));
    });
    const waiting = await waits([...children, neighbour], { over: true });
    const take = jest.spyOn(world.app.app.get(EventWaits, { strict: false }), 'take');
    await due(waiting);
    await eventually(async () => {
      const left = await world.database.query('SELECT FROM event_waits WHERE event_id = ANY($1::uuid[])', [
        waiting,
      ]);
      expect(left).toHaveLength(0);
    });
    const [owners = []] = take.mock.calls
      .map(([, ids]) => ids)
      .filter((ids) => ids.some((id) => children.includes(id)));
    take.mockRestore();
    expect(owners).toContain(neighbour);
    expect(owners.length).toBeLessThan(children.length);
  });

  it('wait from now on when one fails after its time, and hold up no others', async () => {
    const { id, api } = await anOrganizationWithARule();
    const [eventId = ''] = await waits([id], { over: true });
    const fault = await refuse(eventId, 'true');
    await due([eventId]);
    await eventually(async () => expect((await rowOf(eventId))?.failures).toBe(1), { within: 20_000 });
    expect((await rowOf(eventId))?.due_at.valueOf()).toBeGreaterThan(Date.now());
    const [healthy = ''] = await waits([id], { over: true });
    await due([healthy]);
    await eventually(async () => expect(await rowOf(healthy)).toBeUndefined(), { within: 20_000 });
    expect((await rowOf(eventId))?.failures).toBe(1);
    await fault.mend();
    ahead = HOUR_MS;
    await eventually(async () => expect(await rowOf(eventId)).toBeUndefined(), { within: 20_000 });
    const { body } = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?correlation_id=${eventId}`);
    expect(body.data).toHaveLength(1);
  });

  it('end as failed in the sends when they have failed too often', async () => {
    const { id, api } = await anOrganizationWithARule();
    const [eventId = ''] = await waits([id], { over: true, failures: MOST_TRIES - 1 });
    await refuse(eventId, `NEW.state <> 'failed'`);
    await due([eventId]);
    await eventually(async () => expect(await rowOf(eventId)).toBeUndefined(), { within: 20_000 });
    const { body } = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?correlation_id=${eventId}`);
    expect(body.data).toEqual([expect.objectContaining({ state: 'failed', reason: 'retries_exhausted' })]);
  });

  it('stay where they are, looked at no more, when not even that can be kept', async () => {
    const { id } = await anOrganizationWithARule();
    const [eventId = ''] = await waits([id], { over: true, failures: MOST_TRIES - 1 });
    await refuse(eventId, 'true');
    await due([eventId]);
    await eventually(async () => expect(await rowOf(eventId)).toMatchObject({ failures: MOST_TRIES }), {
      within: 20_000,
    });
    await eventually(async () => expect((await rowOf(eventId))?.due_at).toBe(Infinity), { within: 20_000 });
  });

  it('have not failed when they run into a time limit; what cannot even end within it is looked at no more', async () => {
    const organizations = [await anOrganizationWithARule(), await anOrganizationWithARule()];
    const [slow = '', ending = ''] = await waits(
      organizations.map(({ id }) => id),
      { over: true, failures: MOST_TRIES - 1 },
    );
    const tooSlow = await refuse(slow, 'true', '57014');
    const faults = [
      tooSlow,
      await refuse(ending, `NEW.state <> 'failed'`),
      await refuse(ending, `NEW.state = 'failed'`, '57014'),
    ];
    await due([slow, ending]);
    await eventually(async () => expect((await rowOf(ending))?.due_at).toBe(Infinity), { within: 20_000 });
    await eventually(async () => expect(await tooSlow.tries()).toBeGreaterThan(0), { within: 20_000 });
    // Looks follow each other: when this one has gone, the one at that is over.
    const [healthy = ''] = await waits([world.organization().id], { over: true });
    await due([healthy]);
    await eventually(async () => expect(await rowOf(healthy)).toBeUndefined(), { within: 20_000 });
    expect(await rowOf(slow)).toMatchObject({ failures: MOST_TRIES - 1 });
    for (const fault of faults) await fault.mend();
    await due([slow]);
    await eventually(async () => expect(await rowOf(slow)).toBeUndefined(), { within: 20_000 });
  });

  it('leave it to others when they run into time limits one after another', async () => {
    const { id } = await anOrganizationWithARule();
    const slow = await waits(
      Array.from({ length: 6 }, () => id),
      { over: true },
    );
    const fault = await DatabaseFault.in(world.database, {
      table: 'sends',
      on: 'INSERT',
      when: `NEW.event_id = ANY('{${slow.join(',')}}'::uuid[])`,
      code: '57014',
    });
    await due(slow);
    await eventually(async () => expect(await fault.tries()).toBeGreaterThan(0), { within: 20_000 });
    // Looks follow each other: when this one has gone, the one at those is over.
    const [healthy = ''] = await waits([id], { over: true });
    await due([healthy]);
    await eventually(async () => expect(await rowOf(healthy)).toBeUndefined(), { within: 20_000 });
    // Six of them, three, one, two, and another one; each of them alone would be eleven.
    expect(await fault.tries()).toBe(5);
    await fault.mend();
  });

  it('leave it to others when contacts run into time limits one after another', async () => {
    const { id } = await anOrganizationWithARule();
    const slow = await waits(Array.from({ length: 6 }, () => id));
    const fault = await DatabaseFault.in(world.database, {
      table: 'contacts',
      on: 'INSERT',
      when: `NEW.organization_id = '${id}'`,
      code: '57014',
    });
    core.knows = true;
    try {
      await due(slow);
      await eventually(async () => expect(await fault.tries()).toBeGreaterThan(0), { within: 20_000 });
      const [healthy = ''] = await waits([world.organization().id], { over: true });
      await due([healthy]);
      await eventually(async () => expect(await rowOf(healthy)).toBeUndefined(), { within: 20_000 });
      expect(await fault.tries()).toBe(5);
    } finally {
      core.knows = false;
      await fault.mend();
    }
  });
});
