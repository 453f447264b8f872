import { Database, newId } from '@customer-platform/database';
import type { DomainEvent, EventType } from '@customer-platform/events';
import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually } from '@customer-platform/testing';
import { Client } from 'pg';
import { ROWS_OF_A_PIECE } from '../../background/jobs/background-jobs.js';
import { aContact, messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { WebhookReceiver } from '../webhook-receiver.fixture.js';
import { DeliveryQueue } from './delivery-queue.js';
import { ErasedDeliveries } from './erased-deliveries.js';

const MANY = 2 * ROWS_OF_A_PIECE + 7;

let world: MessagingWorld;
let receiver: WebhookReceiver;
let erasure: Client;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
  receiver = new WebhookReceiver();
  await receiver.start();
  // What is queued stays pending.
  receiver.answer = (response) => response.writeHead(500).end();
  erasure = new Client({ connectionString: world.database.adminUrl });
  await erasure.connect();
});
afterAll(async () => {
  await erasure.end();
  await receiver.stop();
  await world.close();
});

/** An organization whose endpoint is told everything of contacts and of lists. */
async function anOrganization(): Promise<string> {
  const { id, api } = world.organization(PERMISSIONS);
  const path = `/${newId()}`;
  const answer = await api.post('/v1/messaging/webhook-endpoints', {
    name: path,
    url: receiver.url(path),
    events: ['core.contact.updated', 'core.contact.erased', 'crm.list_members.added'],
  });
  expect(answer.status).toBe(201);
  return id;
}

const ERASE = `INSERT INTO contacts (organization_id, id, version, state) VALUES ($1, $2, 0, 'erased')`;

function anEvent(organizationId: string, type: EventType, data: Record<string, unknown>): DomainEvent {
  const id = newId();
  return {
    specversion: '1.0',
    id,
    type,
    time: new Date().toISOString(),
    organizationid: organizationId,
    correlationid: id,
    data,
  } as unknown as DomainEvent;
}

/** Waits until messaging waits for somebody's lock. */
function waiting(): Promise<void> {
  return eventually(async () =>
    expect(
      await world.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'messaging'
           AND wait_event_type = 'Lock'`,
      ),
    ).not.toEqual([]),
  );
}

function updated(organizationId: string, contact = aContact()): DomainEvent {
  const data = { contact_id: contact.id, version: 2, changed_fields: [], contact };
  return anEvent(organizationId, 'core.contact.updated.v1', data);
}

const queue = (event: DomainEvent) => world.app.app.get(DeliveryQueue).enqueue(event.type, [event]);

const queued = (organizationId: string) =>
  world.database.query<{ event_id: string; contact_id: string | null; payload: string }>(
    'SELECT event_id, contact_id, payload FROM webhook_deliveries WHERE organization_id = $1 ORDER BY event_id',
    [organizationId],
  );

/** Deliveries that wait, none of them due. */
async function deliveries(
  organizationId: string,
  count: number,
  { contactId = null, says }: { contactId?: string | null; says: string },
): Promise<void> {
  await world.database.query(
    `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, contact_id, correlation_id,
       due_at, created_at)
     SELECT $1, $1, gen_random_uuid(), 'core.contact.updated', $3, $4, $1, now() + interval '1 day', now()
       FROM generate_series(1, $2::int)`,
    [organizationId, count, JSON.stringify({ contact_id: says }), contactId],
  );
}

async function count(organizationId: string, which: string): Promise<number> {
  const [row] = await world.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 AND ${which}`,
    [organizationId],
  );
  return row?.count ?? 0;
}

describe('an event that comes after the erasure of its contact', () => {
  it('is not queued; one about others is, with whom it is about', async () => {
    const id = await anOrganization();
    const [gone, other] = [aContact(), aContact()];
    await world.database.query(ERASE, [id, gone.id]);
    const about = updated(id, other);
    await queue(updated(id, gone));
    await queue(about);
    expect(await queued(id)).toEqual([expect.objectContaining({ event_id: about.id, contact_id: other.id })]);
  });

  it('is queued without it where it names others, and where it tells of the erasure', async () => {
    const id = await anOrganization();
    const [gone, other] = [newId(), newId()];
    await world.database.query(ERASE, [id, gone]);
    const added = (ids: string[]) =>
      anEvent(id, 'crm.list_members.added.v1', { list_id: newId(), contact_ids: ids });
    const end = { contact_id: gone, version: 3, changed_fields: [], contact: null };
    await queue(added([gone]));
    await queue(added([gone, other]));
    await queue(anEvent(id, 'core.contact.erased.v1', end));
    const payloads = (await queued(id)).map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
    expect(payloads).toEqual([
      expect.objectContaining({ data: expect.objectContaining({ contact_ids: [other] }) as unknown }),
      expect.objectContaining({ type: 'core.contact.erased' }),
    ]);
  });

  it('waits for an erasure that is under way', async () => {
    const id = await anOrganization();
    const contact = aContact();
    await erasure.query('BEGIN');
    await erasure.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('references:' || $1 || ':core.contacts', 0))`,
      [id],
    );
    const queueing = queue(updated(id, contact));
    await waiting();
    await erasure.query(ERASE, [id, contact.id]);
    await erasure.query('COMMIT');
    await queueing;
    expect(await queued(id)).toEqual([]);
  });
});

describe('deliveries that wait for an erased contact', () => {
  it('are ended with the erasure, however many; those that do not say whose they are in pieces behind it', async () => {
    const { id } = world.organization();
    const [gone, other] = [newId(), newId()];
    await deliveries(id, MANY, { contactId: gone, says: gone });
    await deliveries(id, 3, { contactId: other, says: other });
    await deliveries(id, MANY, { says: gone });
    await deliveries(id, MANY, { says: other });
    const ended = await world.app.app
      .get(Database)
      .inOrganization({ organizationId: id }, (tx) => world.app.app.get(ErasedDeliveries).erase(tx, [gone]));
    expect(ended).toBe(MANY);
    await eventually(
      async () =>
        expect(await count(id, `state = 'failed' AND error = 'erased' AND payload IS NULL`)).toBe(2 * MANY),
      { within: 20_000 },
    );
    expect(await count(id, `state = 'pending'`)).toBe(MANY + 3);
    const pieces = await world.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 AND state = 'failed'
        GROUP BY xmin::text ORDER BY 1 DESC`,
      [id],
    );
    expect(pieces[0]?.count).toBe(MANY);
    expect(Math.max(...pieces.slice(1).map((piece) => piece.count))).toBeLessThanOrEqual(ROWS_OF_A_PIECE);
  });

  it('keep their outcome where they have ended, without what was said', async () => {
    const { id } = world.organization();
    const [gone, other] = [newId(), newId()];
    await deliveries(id, 2, { contactId: gone, says: gone });
    await deliveries(id, 2, { says: gone });
    await deliveries(id, 1, { contactId: other, says: other });
    await world.database.query(
      `UPDATE webhook_deliveries SET state = 'delivered', due_at = NULL WHERE organization_id = $1`,
      [id],
    );
    await world.app.app
      .get(Database)
      .inOrganization({ organizationId: id }, (tx) => world.app.app.get(ErasedDeliveries).erase(tx, [gone]));
    await eventually(async () => expect(await count(id, 'payload IS NULL')).toBe(4));
    expect(await count(id, `state = 'delivered' AND error IS NULL`)).toBe(5);
    expect(await count(id, 'contact_id IS NOT NULL')).toBe(1);
  });

  it('are ended though another transaction changes them at the same moment', async () => {
    const { id } = world.organization();
    const gone = newId();
    await deliveries(id, 3, { contactId: gone, says: gone });
    await erasure.query('BEGIN');
    await erasure.query(
      `UPDATE webhook_deliveries SET attempts = attempts + 1 WHERE ctid = (
         SELECT ctid FROM webhook_deliveries WHERE organization_id = $1 LIMIT 1)`,
      [id],
    );
    const ended = world.app.app
      .get(Database)
      .inOrganization({ organizationId: id }, (tx) => world.app.app.get(ErasedDeliveries).erase(tx, [gone]));
    await waiting();
    await erasure.query('COMMIT');
    expect(await ended).toBe(3);
    expect(await count(id, 'payload IS NULL')).toBe(3);
  });
});
