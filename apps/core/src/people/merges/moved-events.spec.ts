import { Database, newId, type Transaction } from '@customer-platform/database';
import { START_MS } from '../../core.fixture.js';
import { ContactWorld } from '../contacts/contact.fixture.js';
import { MergesRepository } from './merges.repository.js';

/** More than two pieces; many of one instant. */
const EVENTS = 20_500;

let world: ContactWorld;
beforeAll(async () => {
  world = await ContactWorld.start();
}, START_MS);
afterAll(() => world.close());

/** The transaction, and how many rows its statements answered. */
function counting(tx: Transaction): { tx: Transaction; answers: number[] } {
  const answers: number[] = [];
  const query: Transaction['query'] = async <Row>(sql: string, parameters?: readonly unknown[]) => {
    const rows = await tx.query<Row>(sql, parameters);
    answers.push(rows.length);
    return rows;
  };
  return { tx: Object.assign(Object.create(tx) as Transaction, { query }), answers };
}

describe('the events of a contact that is merged', () => {
  it('are moved and moved back in pieces, all of them, and none is sent to the service', async () => {
    const { id: organizationId } = world.anOrganization();
    const [survivor, merged] = [newId(), newId()];
    await world.query(
      `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at, received_at,
                           payload, source, fingerprint, created_at)
       SELECT $1, gen_random_uuid(), 'track', 'seen', 'x', CASE WHEN n % 41 = 0 THEN $2::uuid ELSE $3::uuid END, 'k' || n,
              timestamptz '2026-01-01T00:00:00.123Z' - n / 100 * interval '1 min', now(), '{}', 'api', gen_random_uuid(), now()
         FROM generate_series(1, $4::int) AS n`,
      [organizationId, survivor, merged, EVENTS + 500],
    );
    const ofEach = async (): Promise<unknown> => {
      const rows = await world.query(
        `SELECT count(*) FILTER (WHERE contact_id = $2)::int AS survivor,
                count(*) FILTER (WHERE contact_id = $3)::int AS merged, count(origin_id)::int AS moved
           FROM events WHERE organization_id = $1`,
        [organizationId, survivor, merged],
      );
      return rows[0];
    };
    const own = Math.floor((EVENTS + 500) / 41);
    const theirs = EVENTS + 500 - own;
    const database = world.core.app.app.get(Database);
    const merges = new MergesRepository();
    const act = async (work: (tx: Transaction) => Promise<void>): Promise<void> => {
      const answers = await database.inOrganization({ organizationId }, async (tx) => {
        const counted = counting(tx);
        await work(counted.tx);
        return counted.answers;
      });
      // Identities, and three pieces.
      expect(answers.length).toBe(4);
      expect(Math.max(...answers)).toBeLessThanOrEqual(1);
    };
    await act((tx) => merges.move(tx, survivor, merged));
    expect(await ofEach()).toEqual({ survivor: own + theirs, merged: 0, moved: theirs });
    await act((tx) => merges.moveBack(tx, survivor, merged, [merged]));
    expect(await ofEach()).toEqual({ survivor: own, merged: theirs, moved: 0 });
  }, 60_000);
});
