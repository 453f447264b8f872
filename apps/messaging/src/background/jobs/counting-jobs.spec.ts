import { Clock, newId } from '@customer-platform/database';
import { DatabaseFault } from '@customer-platform/testing';
import { CampaignCounts } from '../../requests/campaigns/runs/campaign-counts.js';
import { DeliverabilityCounter } from '../../reports/deliverability/deliverability-counter.js';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';

const ROWS = 1_000;

let world: MessagingWorld;
let now = new Date();
beforeAll(async () => {
  // They run when the test says so.
  world = await messagingWorld({ consume: false, env: { PROCESS_ROLE: 'api' } });
  world.app.app.get(Clock).now = () => now;
});
afterAll(() => world.close());

describe.each([
  {
    job: 'deliverability',
    run: () => world.app.app.get(DeliverabilityCounter, { strict: false }).runAll(),
    queue: 'deliverability_changes',
    counts: 'deliverability_counts',
    fill: `INSERT INTO deliverability_changes (organization_id, hour, channel, reached_before, reached_after, sends)
           SELECT $1, date_trunc('hour', now()), 'email', 0, 1, 1 FROM generate_series(1, $2::int)`,
  },
  {
    job: 'campaign-counts',
    run: () => world.app.app.get(CampaignCounts, { strict: false }).foldAll(),
    queue: 'campaign_count_changes',
    counts: 'campaign_counts',
    fill: `INSERT INTO campaign_count_changes (organization_id, run_id, kind, change)
           SELECT $1, $1, 'audience', 1 FROM generate_series(1, $2::int)`,
  },
])('the job $job', ({ run, queue, counts, fill }) => {
  it('does everybody’s work while one organization’s always fails, and that once it does no more', async () => {
    // The first of all by whatever order.
    const failing = newId().replace(/^.{8}/, '00000000');
    const other = newId();
    await world.database.query(fill, [failing, ROWS]);
    await world.database.query(fill, [other, 1]);
    const left = async (): Promise<Record<string, number>> => {
      const rows = await world.database.query<{ id: string; count: number }>(
        `SELECT organization_id AS id, count(*)::int AS count FROM ${queue} GROUP BY 1`,
      );
      return Object.fromEntries(rows.map(({ id, count }) => [id, count]));
    };
    const fault = await DatabaseFault.in(world.database, {
      table: counts,
      on: 'INSERT',
      when: `NEW.organization_id = '${failing}'`,
    });
    await run();
    expect(await left()).toEqual({ [failing]: ROWS });
    // It is left alone for now.
    const tries = await fault.tries();
    await world.database.query(fill, [other, 1]);
    await run();
    expect([await left(), await fault.tries()]).toEqual([{ [failing]: ROWS }, tries]);
    await fault.mend();
    now = new Date(now.getTime() + 3_600_000);
    await run();
    expect(await left()).toEqual({});
  });
});
