import { randomUUID } from 'node:crypto';
import { Clock, Database, Retention } from '@customer-platform/database';
import { DatabaseFault } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { UNKNOWN_REPORTS } from './old-reports.js';
import { ProviderReports } from './provider-reports.service.js';
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

it('those of others are applied while somebody holds what one of them needs', async () => {
  const [failing, other] = [world.organization().id, world.organization().id];
  await world.database.query(REPORTS, [failing, 3]);
  await world.database.query(REPORTS, [other, 1]);
  const fault = await DatabaseFault.in(world.database, {
    table: 'provider_reports',
    on: 'UPDATE',
    when: `NEW.organization_id = '${failing}' AND NEW.provider_message_id = '2' AND NEW.applied_at IS NOT NULL`,
    code: '55P03',
  });
  await world.app.app.get(ReportSweep).run();
  expect([await waiting(failing), await waiting(other)]).toEqual([1, 0]);
  await fault.mend();
});

it('one is taken although another that comes with it runs into a time limit', async () => {
  const [slow, other] = [world.organization().id, world.organization().id];
  const fault = await DatabaseFault.in(world.database, {
    table: 'provider_reports',
    on: 'INSERT',
    when: `NEW.organization_id = '${slow}'`,
    code: '57014',
  });
  const take = (organizationId: string): Promise<void> =>
    world.app.app.get(ProviderReports).take(
      [
        {
          messageId: 'one',
          event: 'delivered',
          eventId: null,
          bounceType: null,
          occurredAt: new Date(),
          namedSend: null,
          stopOf: null,
        },
      ],
      { organizationId, channel: 'push', provider: 'generic', correlationId: randomUUID() },
    );
  const outcomes = await Promise.allSettled([take(slow), take(other)]);
  await fault.mend();
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect([await waiting(slow), await waiting(other)]).toEqual([0, 1]);
});

it('one is forgotten although another cannot be', async () => {
  const { id } = world.organization();
  await world.database.query(REPORTS, [id, 3]);
  await world.database.query(
    `UPDATE provider_reports SET received_at = now() - interval '73 hours' WHERE organization_id = $1`,
    [id],
  );
  const fault = await DatabaseFault.in(world.database, {
    table: 'provider_reports',
    on: 'DELETE',
    when: `OLD.organization_id = '${id}' AND OLD.provider_message_id = '2'`,
  });
  const retention = new Retention(world.app.app.get(Database), new Clock(), UNKNOWN_REPORTS);
  await retention.sweep();
  expect(await waiting(id)).toBe(1);
  await fault.mend();
  await retention.sweep();
  expect(await waiting(id)).toBe(0);
});
