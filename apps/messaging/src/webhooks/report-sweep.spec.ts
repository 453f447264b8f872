import { DatabaseFault } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../messaging.fixture.js';
import { ReportSweep } from './report-sweep.js';

const REPORTS = `
  WITH own AS (
    INSERT INTO sends (organization_id, id, channel, state, category, recipient, source, lane, correlation_id, created_at,
      updated_at)
    VALUES ($1, gen_random_uuid(), 'email', 'sent', 'transactional', '{"address": "one@example.com"}', 'api', 0,
      gen_random_uuid(), now(), now())
    RETURNING id)
  INSERT INTO provider_reports (organization_id, provider, provider_message_id, event_key, event, named_send, occurred_at,
    received_at, due_at)
  SELECT $1, 'generic', n::text, n::text, 'delivered', own.id, now(), now(), '2026-01-01'
    FROM own, generate_series(1, $2::int) AS n`;

let world: MessagingWorld;
beforeAll(async () => {
  // Nobody but the test looks at reports.
  world = await messagingWorld({ consume: false, env: { PROCESS_ROLE: 'api' } });
});
afterAll(() => world.close());

const waiting = async (organizationId: string): Promise<number> => {
  const rows = await world.database.query(
    'SELECT FROM provider_reports WHERE organization_id = $1 AND applied_at IS NULL',
    [organizationId],
  );
  return rows.length;
};

it('reports that each run into a time limit are left to a later look, and others’ are applied', async () => {
  const [failing, other] = [world.organization().id, world.organization().id];
  await world.database.query(REPORTS, [failing, 200]);
  await world.database.query(REPORTS, [other, 1]);
  const fault = await DatabaseFault.in(world.database, {
    table: 'provider_reports',
    on: 'UPDATE',
    when: `NEW.organization_id = '${failing}' AND NEW.applied_at IS NOT NULL`,
    code: '57014',
  });
  const sweep = world.app.app.get(ReportSweep);
  try {
    await sweep.run();
    expect([await waiting(failing), await waiting(other)]).toEqual([200, 0]);
    // Each may have taken 15 s.
    expect(await fault.tries()).toBeLessThan(20);
  } finally {
    await fault.mend();
  }
  await world.database.query(`UPDATE provider_reports SET due_at = '2026-01-01' WHERE organization_id = $1`, [
    failing,
  ]);
  await sweep.run();
  expect(await waiting(failing)).toBe(0);
});
