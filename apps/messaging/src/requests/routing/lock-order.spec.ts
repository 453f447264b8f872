import { randomUUID } from 'node:crypto';
import type { ContactsMerged } from '@customer-platform/contact-refs';
import { newId } from '@customer-platform/database';
import type { DomainEvent } from '@customer-platform/events';
import { eventually } from '@customer-platform/testing';
import { Client } from 'pg';
import { ContactProjection } from '../../people/contacts/contact-projection.js';
import { messagingWorld, template, type MessagingWorld } from '../../messaging.fixture.js';

const ROUTING = '/v1/messaging/event-routing';
const RULES_LIMIT = `SELECT pg_advisory_xact_lock(hashtextextended('limit:event_routing:' || $1::text, 0))`;
const RAISE_VERSION = `
  INSERT INTO organizations (organization_id, routing_version) VALUES ($1, 1)
  ON CONFLICT (organization_id) DO UPDATE SET routing_version = organizations.routing_version + 1`;
const WAITING = `
  SELECT 1 FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'messaging' AND wait_event_type = 'Lock'`;

let world: MessagingWorld;
let other: Client;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
  other = new Client({ connectionString: world.database.adminUrl });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await world.close();
});
afterEach(async () => {
  await other.query('ROLLBACK');
});

const someoneWaits = (): Promise<void> =>
  eventually(async () => expect(await world.database.query(WAITING)).not.toEqual([]));

function merged(organizationId: string, mergedId: string): DomainEvent<ContactsMerged> {
  return {
    id: newId(),
    time: new Date().toISOString(),
    type: 'core.contact.merged.v1',
    organizationid: organizationId,
    data: { merged_id: mergedId, survivor_id: newId(), merged_version: 2 },
  } as DomainEvent<ContactsMerged>;
}

it('a rule that is made while its template is published has seen what is published then, not before', async () => {
  const { id, api } = world.organization();
  const templateId = await template(api);
  await other.query('BEGIN');
  await other.query('SELECT FROM templates WHERE id = $1 FOR UPDATE', [templateId]);
  await other.query('UPDATE templates SET version = 2, published_version = 2 WHERE id = $1', [templateId]);
  const creating = api.post<{ id: string }>(ROUTING, {
    name: `Rule ${randomUUID()}`,
    event_type: 'core.event.recorded',
    event_name: 'invoice_paid',
    channel: 'email',
    template_id: templateId,
  });
  await someoneWaits();
  await other.query('COMMIT');
  expect((await creating).status).toBe(201);
  const rules = await world.database.query(
    'SELECT vouched_version FROM event_routing WHERE organization_id = $1',
    [id],
  );
  expect(rules).toEqual([{ vouched_version: 2 }]);
});

describe('locks that several writers take', () => {
  it('contacts are marked in the order in which others write contacts, whatever the order of the events', async () => {
    const { id } = world.organization();
    const [first = '', second = ''] = [newId(), newId()].sort();
    const insert = `INSERT INTO contacts (organization_id, id, version, state) VALUES ($1, $2, 1, 'active')`;
    for (const contact of [first, second]) await world.database.query(insert, [id, contact]);
    const lock = 'SELECT 1 FROM contacts WHERE organization_id = $1 AND id = $2 FOR UPDATE';
    await other.query('BEGIN');
    await other.query(lock, [id, first]);
    const followed = world.app.app.get(ContactProjection).merged([merged(id, second), merged(id, first)]);
    await someoneWaits();
    await other.query(lock, [id, second]);
    await other.query('COMMIT');
    await followed;
    const rows = await world.database.query<{ state: string }>(
      'SELECT state FROM contacts WHERE organization_id = $1',
      [id],
    );
    expect(rows).toEqual([{ state: 'merged' }, { state: 'merged' }]);
  });

  it('a rule that loses to another writer is written all the same: 201', async () => {
    const { id, api } = world.organization();
    const templateId = await template(api);
    await world.database.query(RAISE_VERSION, [id]);
    // Somebody with the locks the other way round, as a later version might have them.
    await other.query('BEGIN');
    await other.query('SET LOCAL deadlock_timeout = 60000');
    await other.query(RAISE_VERSION, [id]);
    const creating = api.post(ROUTING, {
      name: `Rule ${randomUUID()}`,
      event_type: 'core.event.recorded',
      event_name: 'invoice_paid',
      channel: 'email',
      template_id: templateId,
    });
    await someoneWaits();
    await other.query(RULES_LIMIT, [id]);
    await other.query('COMMIT');
    expect((await creating).status).toBe(201);
    const { body } = await api.get<{ data: unknown[] }>(ROUTING);
    expect(body.data).toHaveLength(1);
  });
});
