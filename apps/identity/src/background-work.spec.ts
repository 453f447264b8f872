import { Clock, newId } from '@customer-platform/database';
import { itHoldsUpNoOther, outboxRows } from '@customer-platform/testing';
import { IdentityBench } from './identity-app.fixture.js';
import { TestDns } from './sso-connections/dns-server.fixture.js';

const AS_EVERY_RETENTION = 'covered by libs/database/test/retention.spec.ts';

let bench: IdentityBench;
let dns: TestDns;
/** Somebody of the organization. */
const userOf = new Map<string, string>();
afterAll(async () => {
  await bench.end();
  await dns.close();
});

async function count(sql: string, organizationId: string): Promise<number> {
  const [row] = await bench.database.query<{ count: number }>(sql, [userOf.get(organizationId)]);
  return row?.count ?? NaN;
}

itHoldsUpNoOther({
  start: async () => {
    // It knows no proof of any domain.
    dns = await TestDns.start();
    bench = await IdentityBench.start({ SSO_DNS_SERVERS: dns.address });
    let ahead = 0;
    bench.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return {
      database: bench.database,
      organization: async () => {
        const { id } = await bench.organization([]);
        userOf.set(id, newId());
        await bench.database.query(
          `INSERT INTO users (organization_id, id, email, name, status, created_at, updated_at)
           VALUES ($1, $2, $3, 'Somebody', 'active', now(), now())`,
          [id, userOf.get(id), `${id}@example.com`],
        );
        return id;
      },
      pass: (ms) => (ahead += ms),
    };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => bench, 'identity.domain-events'),
    'session-sweep': {
      give: async (organizationId, rows) => {
        await bench.database.query(
          `INSERT INTO sessions (organization_id, id, user_id, amr, authenticated_at, last_seen_at, idle_expires_at,
             expires_at, created_at)
           SELECT $1, gen_random_uuid(), $2, '{pwd}', now(), now(), now() - interval '1 s', now() + interval '1 h', now()
             FROM generate_series(1, $3::int)`,
          [organizationId, userOf.get(organizationId), rows],
        );
      },
      fault: (organizationId) => ({
        table: 'sessions',
        on: 'UPDATE',
        when: `OLD.organization_id = '${organizationId}'`,
      }),
      left: (organizationId) =>
        count('SELECT count(*)::int FROM sessions WHERE user_id = $1 AND ended_at IS NULL', organizationId),
    },
    'sso-domains': {
      give: async (organizationId, rows) => {
        await bench.database.query(
          `WITH connection AS (
             INSERT INTO sso_connections (organization_id, id, name, protocol, issuer, client_id, client_secret, domains,
               enforced, jit, jit_role_ids, status, created_at, updated_at)
             VALUES ($1, gen_random_uuid(), 'Elsewhere', 'oidc', 'https://idp.example.com', 'platform', '', '{example.com}', false,
               false, '{}', 'active', now(), now())
             RETURNING id)
           INSERT INTO sso_domains (organization_id, connection_id, domain, proven_at, next_check_at)
           SELECT $1, id, gen_random_uuid() || '.example', now(), now() - interval '1 s'
             FROM connection, generate_series(1, $2::int)`,
          [organizationId, rows],
        );
      },
      fault: (organizationId) => ({
        table: 'sso_domains',
        on: 'UPDATE',
        when: `OLD.organization_id = '${organizationId}' AND NEW.failing_since IS NOT NULL`,
      }),
      left: async (organizationId) => {
        const [row] = await bench.database.query<{ count: number }>(
          'SELECT count(*)::int FROM sso_domains WHERE organization_id = $1 AND failing_since IS NULL',
          [organizationId],
        );
        return row?.count ?? NaN;
      },
    },
    'password-reset-issuing': {
      give: async (organizationId, rows) => {
        await bench.database.query(
          `INSERT INTO password_reset_requests (organization_id, id, email, correlation_id)
           SELECT organization_id, gen_random_uuid(), $1, gen_random_uuid()
             FROM organizations, generate_series(1, $2::int) WHERE parent_id IS NULL`,
          [`${organizationId}@example.com`, rows],
        );
      },
      fault: (organizationId) => ({
        table: 'password_resets',
        on: 'INSERT',
        when: `NEW.organization_id = '${organizationId}'`,
      }),
      left: (organizationId) =>
        count(
          'SELECT count(*)::int FROM password_reset_requests WHERE email = (SELECT email FROM users WHERE id = $1)',
          organizationId,
        ),
    },
  },
  without: {
    'idempotency-retention': AS_EVERY_RETENTION,
    'impersonation-retention': AS_EVERY_RETENTION,
    'inbox-retention': AS_EVERY_RETENTION,
    'oauth-browser-state-retention': AS_EVERY_RETENTION,
    'oauth-token-retention': AS_EVERY_RETENTION,
    'password-attempts-retention': AS_EVERY_RETENTION,
    'password-reset-limit-retention': AS_EVERY_RETENTION,
    'session-retention': AS_EVERY_RETENTION,
    'sign-ins-retention': AS_EVERY_RETENTION,
    'sso-request-retention': AS_EVERY_RETENTION,
  },
  mostWithout: 10,
});
