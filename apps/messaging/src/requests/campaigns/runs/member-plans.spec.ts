import { Database, newId, type Transaction } from '@customer-platform/database';
import { explained, rowsRead } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../../messaging.fixture.js';
import { CampaignMembersRepository } from './campaign-members.repository.js';
import type { WorkedRun } from './worked-run.js';

const MEMBERS = 20_000;
const PIECE = 500;

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

async function aRun(): Promise<WorkedRun> {
  const run = { organizationId: newId(), id: newId(), startedAt: new Date() };
  await world.database.query(
    `INSERT INTO campaign_members (organization_id, run_id, contact_id, state, look_at, address_key)
     SELECT $1, $2, gen_random_uuid(), 'pending', now(), 'key ' || n FROM generate_series(1, $3::int) AS n`,
    [run.organizationId, run.id, MEMBERS],
  );
  return run as WorkedRun;
}

/** Does the work and lists how many rows of `campaign_members` each of its statements read. */
async function read(run: WorkedRun, work: (tx: Transaction) => Promise<unknown>): Promise<number[]> {
  const rows: number[] = [];
  await world.app.app
    .get(Database, { strict: false })
    .inOrganization(run, (tx) =>
      work(explained(tx, /campaign_members/, (plan) => rows.push(rowsRead(plan, 'campaign_members')))),
    );
  return rows;
}

it('the members of a run that began since the last ANALYZE are sought by whole keys', async () => {
  await world.database.query('ALTER TABLE campaign_members SET (autovacuum_enabled = false)');
  for (let other = 0; other < 3; other += 1) await aRun();
  await world.database.query('ANALYZE campaign_members');
  const run = await aRun();
  const members = await world.database.query<{ id: string; contact_id: string }>(
    'SELECT id, contact_id FROM campaign_members WHERE run_id = $1 ORDER BY id LIMIT $2',
    [run.id, PIECE],
  );
  const repository = world.app.app.get(CampaignMembersRepository, { strict: false });
  const keys = members.map((_, at) => `key ${String(at)}`);
  const settled = members.map(({ id }) => ({ id, state: 'skipped' as const, reason: 'erased' }));
  const rows = await read(run, async (tx) => {
    await repository.pending(tx, run, PIECE, { lock: true });
    await repository.areLeft(tx, run);
    await repository.takenAddresses(tx, run, keys);
    await repository.putOff(tx, run, members);
    await repository.settle(tx, run, settled);
  });
  expect(rows).toHaveLength(5);
  for (const count of rows) expect(count).toBeLessThanOrEqual(2 * PIECE);
});
