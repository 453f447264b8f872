import { randomUUID } from 'node:crypto';
import { Database, newId } from '@customer-platform/database';
import { explained, rowsRead } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { SendsRepository, type Person } from '../../dispatch/sends/sends.repository.js';

/** Many enough that reading all of them is what no plan should do. */
const WAITING = 5_000;
const MANY = 9_000;

describe('the sends of a person who is erased', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld({ consume: false });
  });
  afterAll(() => world.close());

  const organizationId = newId();
  const [contactId, other] = [newId(), newId()];
  const [externalId, addressKey] = ['the person', 'key of the person'];
  const person: Person = { contactIds: [contactId], externalIds: [externalId], addressKeys: [addressKey] };

  /** Sends that wait for a day, to as many others, and those of the person. */
  async function seed(): Promise<string[]> {
    const insert = `INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, address_key,
        source, lane, due_at, created_at, updated_at)`;
    const rest = `'api', 0, now() + interval '1 day', now(), now()`;
    await world.database.query(
      `${insert} SELECT $1, gen_random_uuid(), 'email', 'accepted', 'transactional', contact,
         CASE WHEN contact IS NULL THEN jsonb_build_object('address', n || '@example.com')
           ELSE jsonb_build_object('contact_id', contact) END, 'key ' || n, ${rest}
        FROM (SELECT n, CASE WHEN n % 2 = 0 THEN gen_random_uuid() END AS contact
                FROM generate_series(1, $2::int) AS n) AS numbered`,
      [organizationId, WAITING],
    );
    const own: readonly (readonly [string | null, object, string])[] = [
      [contactId, { address: 'a@example.com' }, 'by contact'],
      [null, { contact_id: contactId }, 'by what was asked for'],
      [null, { external_id: externalId }, 'by the external id'],
      [null, { address: 'b@example.com' }, addressKey],
      [other, { contact_id: contactId }, 'when they were one'],
    ];
    // Of others: whose external id is what the person's contact is called, and who was found to be somebody else.
    const others: typeof own = [
      [null, { external_id: contactId }, 'called alike'],
      [null, { contact_id: externalId }, 'called alike, too'],
      [other, { address: 'c@example.com' }, addressKey],
      [other, { external_id: externalId }, 'it was somebody else’s'],
    ];
    const ids: string[] = [];
    for (const [contact, recipient, key] of [...own, ...others]) {
      const id = randomUUID();
      await world.database.query(
        `${insert} VALUES ($1, $2, 'email', 'accepted', 'transactional', $3, $4, $5, ${rest})`,
        [organizationId, id, contact, JSON.stringify(recipient), key],
      );
      ids.push(id);
    }
    await world.database.query('ANALYZE sends');
    return ids.slice(0, own.length);
  }

  it('are found by what is known of the person, however many wait', async () => {
    const own = await seed();
    const { erased, read } = await erase(organizationId, person);
    expect(erased).toBe(own.length);
    const rows = await world.database.query<{ id: string }>(
      `SELECT id FROM sends WHERE organization_id = $1 AND state = 'canceled'`,
      [organizationId],
    );
    expect(rows.map(({ id }) => id).sort()).toEqual([...own].sort());
    expect(read).toHaveLength(3);
    for (const rowsOfOne of read) expect(rowsOfOne).toBeLessThan(50);
  });

  it('are found where the planner has seen nothing of the organization yet', async () => {
    await world.database.query('ALTER TABLE sends SET (autovacuum_enabled = false)');
    const seen = `INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, source, lane,
        created_at, updated_at)
      SELECT $1, gen_random_uuid(), 'email', 'sent', 'transactional',
             CASE WHEN n % 300 = 0 THEN $2 ELSE gen_random_uuid() END, '{}', 'api', 0, now(), now()
        FROM generate_series(1, $3::int) AS n`;
    await world.database.query(seen, [newId(), newId(), 1]);
    await world.database.query('ANALYZE sends');
    const [theirs, one] = [newId(), newId()];
    await world.database.query(seen, [theirs, one, MANY]);
    const { erased, read } = await erase(theirs, {
      contactIds: [one],
      externalIds: [],
      addressKeys: [],
    });
    expect(erased).toBe(30);
    expect(read).toHaveLength(3);
    // Not all of them for each of the person's.
    for (const rowsOfOne of read) expect(rowsOfOne).toBeLessThan(4 * MANY);
  });

  it('stay complained of where they were, though they are due once more', async () => {
    const [of, whom, id] = [newId(), newId(), newId()];
    await world.database.query(
      `INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, source, lane, due_at,
         created_at, updated_at)
       VALUES ($1, $2, 'email', 'complained', 'marketing', $3, '{}', 'api', 0, now() + interval '1 day', now(), now())`,
      [of, id, whom],
    );
    await erase(of, { contactIds: [whom], externalIds: [], addressKeys: [] });
    const rows = await world.database.query('SELECT state, contact_id FROM sends WHERE id = $1', [id]);
    expect(rows).toEqual([{ state: 'complained', contact_id: null }]);
  });

  /** Erases the person; `read`: how many rows each change of sends reads. */
  async function erase(of: string, whom: Person): Promise<{ erased: number; read: number[] }> {
    const read: number[] = [];
    const erased = await world.app.app
      .get(Database, { strict: false })
      .inOrganization({ organizationId: of }, (tx) => {
        const explaining = explained(tx, /UPDATE sends/, (plan) => read.push(rowsRead(plan, 'sends')));
        return world.app.app.get(SendsRepository, { strict: false }).erase(explaining, whom, new Date());
      });
    return { erased, read };
  }
});
