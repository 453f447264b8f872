import { Clock } from '@customer-platform/database';
import {
  DnsServer,
  followedContacts,
  itHoldsUpNoOther,
  outboxRows,
  type Caller,
  type Fault,
  type WorkScenario,
} from '@customer-platform/testing';
import { CLAIMED_AT_ONCE, MessagingScenarios } from './background-work.fixture.js';
import { messagingWorld, type MessagingWorld } from './messaging.fixture.js';
import { beGenerous } from './settings/sender-domains/verification.fixture.js';
import { CAMPAIGN_LANE, IDENTITY_LANE } from './vocabulary/sends/send.js';
import { WebhookReceiver } from './webhook-endpoints/webhook-receiver.fixture.js';

/** A retention finds those that fail by halves; with a thousand: libs/database/test/retention.spec.ts. */
const MANY = 100;

let world: MessagingWorld;
let dns: DnsServer;
const receiver = new WebhookReceiver();
const apis = new Map<string, Caller>();
afterAll(async () => {
  await world.close();
  await Promise.all([dns.close(), receiver.stop()]);
});

const further = new MessagingScenarios(() => ({
  world,
  receiver,
  apiOf: (id) => {
    const api = apis.get(id);
    if (!api) throw new Error(`${id} is no organization of this spec`);
    return api;
  },
}));

/** Rows of a table; `when` is PL/pgSQL beside the organization's, `open` is SQL that holds of a row that is not done. */
const rowsOf = (
  table: string,
  row: { columns: string; values: string },
  fault: Pick<Fault, 'on'> & { when?: string },
  open = 'true',
): WorkScenario => ({
  ...(row.columns.includes('due_at') && { later: (id) => further.dueNow(table, 'due_at', id) }),
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

/** Is {@link rowsOf} with rows that have had their time: each pass looks at all of them. */
const oldRowsOf = (...[table, row, fault, open]: Parameters<typeof rowsOf>): WorkScenario => ({
  ...rowsOf(table, row, fault, open),
  later: () => Promise.resolve(),
  many: MANY,
});

const ANY = 'gen_random_uuid()';

const RUN = {
  columns:
    'id, campaign_id, state, paused, channel, template_id, template_version, audience_type, audience_id, category, data, correlation_id, due_at, told_at, started_at',
  values: `${ANY}, ${ANY}, 'canceled', false, 'email', ${ANY}, 1, 'list', ${ANY}, 'marketing', '{}', ${ANY}, '2026-01-01', now(), now()`,
};

itHoldsUpNoOther({
  start: async () => {
    dns = await DnsServer.start();
    await receiver.start();
    world = await messagingWorld({ env: { SENDER_DNS_SERVERS: dns.address } });
    beGenerous(world.app);
    let ahead = 0;
    world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return {
      database: world.database,
      organization: () => {
        const { id, api } = world.organization();
        apis.set(id, api);
        return id;
      },
      pass: (ms) => (ahead += ms),
    };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => world, 'messaging.domain-events'),
    'messaging.domain-events': followedContacts(() => world, 'contacts'),
    'dispatch-general': further.dispatch(0),
    'dispatch-campaign': further.dispatch(CAMPAIGN_LANE, 'campaign'),
    // A mailbox, and a tenant, has few of identity's mails an hour.
    'dispatch-identity': { ...further.dispatch(IDENTITY_LANE, 'identity'), single: true },
    'dispatch-general (claim)': further.claims(0),
    'dispatch-campaign (claim)': further.claims(CAMPAIGN_LANE, 'campaign'),
    'dispatch-identity (claim)': { ...further.claims(IDENTITY_LANE, 'identity'), single: true },
    'organization-retention': further.retention(),
    'webhook-deliveries': further.deliveries(),
    'webhook-deliveries (claim)': further.deliveryClaims(),
    'waiting-events': further.waits(),
    'waiting-events (claim)': further.waitClaims(),
    'provider-reports': further.reports(),
    'provider-reports (claim)': further.reportClaims(),
    'sender-domains': further.domains(),
    'sender-domains (claim)': further.domainLeases(),
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
      RUN,
      { on: 'UPDATE', when: 'NEW.claim = OLD.claim' },
      'due_at IS NOT NULL',
    ),
    'campaign-runs (claim)': {
      ...rowsOf('campaign_runs', RUN, { on: 'UPDATE' }, 'due_at IS NOT NULL'),
      many: CLAIMED_AT_ONCE,
    },
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
    'provider-report-retention': oldRowsOf(
      'provider_reports',
      {
        columns: 'provider, provider_message_id, event_key, event, occurred_at, received_at, applied_at',
        values: `'generic', ${ANY}::text, ${ANY}::text, 'delivered', now(), now() - interval '1 year', now() - interval '1 year'`,
      },
      { on: 'DELETE' },
    ),
    'unknown-report-retention': oldRowsOf(
      'provider_reports',
      {
        columns: 'provider, provider_message_id, event_key, event, occurred_at, received_at, due_at',
        values: `'generic', ${ANY}::text, ${ANY}::text, 'delivered', now(), now() - interval '4 days', 'infinity'`,
      },
      { on: 'DELETE' },
    ),
    'webhook-token-retention': oldRowsOf(
      'webhook_tokens',
      {
        columns: 'provider, token_hash, body_hash, expires_at',
        values: `'generic', sha256(${ANY}::text::bytea), sha256('body'), '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
    'idempotency-retention': oldRowsOf(
      'idempotency_keys',
      {
        columns: 'route, key_hash, fingerprint, expires_at',
        values: `'POST /v1/messaging/templates', sha256(${ANY}::text::bytea), 'none', '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
    'identity-mail-limit-retention': oldRowsOf(
      'identity_mails',
      {
        columns: 'send_id, kind, address_key, tenant_id, counted_at',
        values: `${ANY}, 'invitation', 'none', ${ANY}, '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
    'inbox-retention': oldRowsOf(
      'inbox',
      { columns: 'consumer, event_id, claimed_at', values: `'spec', ${ANY}, '2026-01-01'` },
      { on: 'DELETE' },
    ),
    'notification-retention': oldRowsOf(
      'notifications',
      {
        columns: 'id, contact_id, title, body, created_at',
        values: `${ANY}, ${ANY}, 'One', 'One', '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
    // Old enough to be emptied, and too young to go.
    'webhook-body-retention': oldRowsOf(
      'webhook_deliveries',
      {
        columns: 'endpoint_id, event_id, type, payload, correlation_id, state, created_at',
        values: `${ANY}, ${ANY}, 'core.contact.created', '{}', ${ANY}, 'delivered', now() - interval '8 days'`,
      },
      { on: 'UPDATE', when: 'NEW.payload IS NULL' },
      'payload IS NOT NULL',
    ),
    'webhook-delivery-retention': oldRowsOf(
      'webhook_deliveries',
      {
        columns: 'endpoint_id, event_id, type, correlation_id, state, created_at',
        values: `${ANY}, ${ANY}, 'core.contact.created', ${ANY}, 'delivered', '2026-01-01'`,
      },
      { on: 'DELETE' },
    ),
  },
  without: {},
  mixed: true,
  mostWithout: 0,
});
