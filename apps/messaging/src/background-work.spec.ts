import { Clock } from '@customer-platform/database';
import { anOrganization, itHoldsUpNoOther, type Fault, type WorkScenario } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from './messaging.fixture.js';

const AS_EVERY_RETENTION = 'as every retention: libs/database/test/retention.spec.ts';

let world: MessagingWorld;
afterAll(() => world.close());

/** Rows of a table; `when` is PL/pgSQL beside the organization's, `open` is SQL that holds of a row that is not done. */
const rowsOf = (
  table: string,
  row: { columns: string; values: string },
  fault: Pick<Fault, 'on'> & { when?: string },
  open = 'true',
): WorkScenario => ({
  give: async (organizationId, rows) => {
    await world.database.query(
      `INSERT INTO ${table} (organization_id, ${row.columns}) SELECT $1, ${row.values} FROM generate_series(1, $2::int) AS n`,
      [organizationId, rows],
    );
  },
  fault: (organizationId) => ({
    table,
    on: fault.on,
    when: `${fault.on === 'DELETE' ? 'OLD' : 'NEW'}.organization_id = '${organizationId}' AND ${fault.when ?? 'true'}`,
  }),
  left: async (organizationId) => {
    const rows = await world.database.query(`SELECT FROM ${table} WHERE organization_id = $1 AND ${open}`, [
      organizationId,
    ]);
    return rows.length;
  },
});

const ANY = 'gen_random_uuid()';

itHoldsUpNoOther({
  start: async () => {
    world = await messagingWorld({ consume: false });
    let ahead = 0;
    world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return { database: world.database, organization: () => anOrganization().id, pass: (ms) => (ahead += ms) };
  },
  scenarios: {
    'background-jobs': rowsOf(
      'background_jobs',
      {
        columns: 'kind, target_id, until, due_at',
        values: `'cancel_sends_of_rule', ${ANY}, now(), '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
    'campaign-runs': rowsOf(
      'campaign_runs',
      {
        columns:
          'id, campaign_id, state, paused, channel, template_id, template_version, audience_type, audience_id, category, data, correlation_id, due_at, told_at, started_at',
        values: `${ANY}, ${ANY}, 'canceled', false, 'email', ${ANY}, 1, 'list', ${ANY}, 'marketing', '{}', ${ANY}, '2026-01-01', now(), now()`,
      },
      { on: 'UPDATE', when: 'NEW.claim = OLD.claim' },
      'due_at IS NOT NULL',
    ),
    'campaign-counts': rowsOf(
      'campaign_count_changes',
      { columns: 'run_id, kind, change', values: `${ANY}, 'pending', 1` },
      { on: 'DELETE' },
    ),
    deliverability: rowsOf(
      'deliverability_changes',
      {
        columns: 'hour, channel, reached_before, reached_after, sends',
        values: `date_trunc('hour', now()), 'email', 0, 1, 1`,
      },
      { on: 'DELETE' },
    ),
    'provider-report-retention': rowsOf(
      'provider_reports',
      {
        columns: 'provider, provider_message_id, event_key, event, occurred_at, received_at, applied_at',
        values: `'generic', ${ANY}::text, ${ANY}::text, 'delivered', now(), now() - interval '1 year', now() - interval '1 year'`,
      },
      { on: 'DELETE' },
    ),
  },
  without: {
    'outbox-relay':
      'one for all modules, and settles what it took in one statement: libs/event-bus/src/outbox',
    'dispatch-general': 'sends are taken up by organization and channel: gate/dispatcher.spec.ts',
    'dispatch-campaign': 'as dispatch-general',
    'dispatch-identity': 'as dispatch-general, organizations in turn: gate/identity-lane',
    'webhook-deliveries': 'endpoints in turn; outcomes apart: webhook-endpoints/deliveries',
    'waiting-events': 'those at fault end up alone: routing/waiting-events.spec.ts',
    'provider-reports':
      'those at fault end up alone, as in provider-report-retention: webhooks/webhooks.spec.ts',
    'sender-domains': 'asks name servers: sender-domains/domain-recheck.spec.ts',
    'organization-retention': 'asks identity for the periods: retention/retention.spec.ts',
    'idempotency-retention': AS_EVERY_RETENTION,
    'identity-mail-limit-retention': AS_EVERY_RETENTION,
    'inbox-retention': AS_EVERY_RETENTION,
    'notification-retention': AS_EVERY_RETENTION,
    'webhook-body-retention': AS_EVERY_RETENTION,
    'webhook-delivery-retention': AS_EVERY_RETENTION,
  },
  mostWithout: 15,
});
