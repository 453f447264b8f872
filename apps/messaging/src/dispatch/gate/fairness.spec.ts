import { eventually } from '@customer-platform/testing';
import { BOMBS } from '../../content/rendering/hostile-templates.fixture.js';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';

const HOSTILE = 100;
/** Of the hostile one's sends, those that may stand before five of its neighbour's. */
const MOST_BEFORE = 15;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

const endedOf = async (organizationId: string): Promise<number> => {
  const [row] = await world.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM sends WHERE organization_id = $1 AND due_at IS NULL',
    [organizationId],
  );
  return row?.count ?? 0;
};

/**
 * Makes so many more of a send, all due from one moment: calls of the API would take as long as the machine is slow, and
 * whoever is served meanwhile takes nobody's turn.
 */
async function copies(id: string, count: number, text: string): Promise<string[]> {
  const rows = await world.database.query<{ id: string }>(
    `WITH one AS (SELECT * FROM sends WHERE id = $1), made AS (
       INSERT INTO sends (organization_id, id, channel, state, category, recipient, source, correlation_id, lane, due_at,
         created_at, updated_at)
       SELECT organization_id, gen_random_uuid(), channel, 'accepted', category, recipient, source, gen_random_uuid(), lane,
              now(), now(), now() FROM one, generate_series(1, $2::int) RETURNING organization_id, id)
     INSERT INTO send_payloads (organization_id, send_id, content)
     SELECT organization_id, id, $3::jsonb FROM made RETURNING send_id AS id`,
    [id, count, JSON.stringify([{ name: 'text', mode: 'text', source: text }])],
  );
  return rows.map((row) => row.id);
}

/** Counts one organization's sends that ended while another's were due. */
async function endedAmid(organizationId: string, ids: readonly string[]): Promise<number> {
  const [row] = await world.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM sends, (
       SELECT min(created_at) AS first, max(updated_at) AS last FROM sends WHERE id = ANY($2::uuid[])) AS other
      WHERE organization_id = $1 AND due_at IS NULL AND updated_at BETWEEN other.first AND other.last`,
    [organizationId, ids],
  );
  return row?.count ?? NaN;
}

describe('an organization whose templates take all their time', () => {
  it('keeps its neighbour waiting for a few of its messages, not for its backlog', async () => {
    const [hostile, neighbour] = [world.organization(), world.organization()];
    const [bomb] = BOMBS;
    const source = bomb?.source ?? '';
    const usual = await send(neighbour.api, aSend());
    await settled(neighbour.api, usual, 'sent');
    const slow = await send(hostile.api, aSend({ content: { subject: 'x', text: source } }));
    await copies(slow, HOSTILE, source);
    await eventually(async () => expect(await endedOf(hostile.id)).toBeGreaterThan(0), { within: 30_000 });
    const ids = await copies(usual, 5, 'x');
    await Promise.all(ids.map((id) => settled(neighbour.api, id, 'sent')));
    expect(await endedAmid(hostile.id, ids)).toBeLessThanOrEqual(MOST_BEFORE);
  }, 60_000);
});
