import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { aBus, aDatabase, anIsolatedKafka, inOrganization } from '../../test/a-bus.js';
import { forgetParked } from './forget-parked.js';

let app: INestApplication;
let database: Awaited<ReturnType<typeof aDatabase>>;
beforeAll(async () => {
  database = await aDatabase();
  anIsolatedKafka();
  app = await aBus([], { role: 'api' });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const PARK = `
  INSERT INTO parked_events (organization_id, id, consumer, topic, key, event_id, event_type, payload, error, attempts)
  VALUES ($1, gen_random_uuid(), 'c', 't', $2, gen_random_uuid(), $3, $4, 'E', 1)`;

/** What is parked of an organization. */
class Parked {
  readonly organizationId = randomUUID();

  async park(key: string, payload: object | string, type = 'core.contact.updated.v1'): Promise<void> {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await inOrganization(app, this.organizationId, (tx) =>
      tx.query(PARK, [this.organizationId, key, type, text]),
    );
  }

  forget(...ids: string[]): Promise<number> {
    return inOrganization(app, this.organizationId, (tx) => forgetParked(tx, ids));
  }

  async keys(): Promise<string[]> {
    const rows = await inOrganization(app, this.organizationId, (tx) =>
      tx.query<{ key: string }>('SELECT key FROM parked_events WHERE organization_id = $1', [
        this.organizationId,
      ]),
    );
    return rows.map(({ key }) => key).sort();
  }
}

describe('forgetting what is parked of a contact', () => {
  it('takes what has it as its key or names it, and leaves what asks for an erasure and all that is of others', async () => {
    const [contact, merged, other] = [randomUUID(), randomUUID(), randomUUID()];
    const parked = new Parked();
    const foreign = new Parked();
    await foreign.park(contact, { contact_id: contact });
    await parked.park(contact, {});
    await parked.park(merged, 'no JSON at all');
    await parked.park('list', { data: { members: [other, merged] } });
    await parked.park('shouted', `{"contact_id":"${contact.toUpperCase()}"}`);
    await parked.park('erasure', { contact_id: contact }, 'core.erasure.requested.v1');
    await parked.park(other, { contact_id: other });
    expect(await parked.forget(contact, merged)).toBe(4);
    expect(await parked.keys()).toEqual(['erasure', other].sort());
    expect(await foreign.keys()).toEqual([contact]);
    expect(await parked.forget(contact, merged)).toBe(0);
  });

  it('goes through all pieces', async () => {
    const [contact, other] = [randomUUID(), randomUUID()];
    const parked = new Parked();
    await inOrganization(app, parked.organizationId, (tx) =>
      tx.query(
        `INSERT INTO parked_events (organization_id, id, consumer, topic, key, event_id, event_type, payload, error, attempts)
         SELECT $1, gen_random_uuid(), 'c', 't', CASE WHEN n % 2 = 0 THEN $2 ELSE $3 END, gen_random_uuid(), 't', '{}', 'E', 1
           FROM generate_series(1, 1202) AS n`,
        [parked.organizationId, contact, other],
      ),
    );
    expect(await parked.forget(contact)).toBe(601);
    expect(await parked.keys()).toEqual(Array(601).fill(other));
  });
});
