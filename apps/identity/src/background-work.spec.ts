import { Clock, newId } from '@customer-platform/database';
import {
  itHoldsUpNoOther,
  outboxRows,
  retainedByAll,
  retainedRows,
  type RetainedRows,
} from '@customer-platform/testing';
import { IdentityBench } from './identity-app.fixture.js';
import { TestDns } from './sso-connections/dns-server.fixture.js';

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

const LONG_AGO = `now() - interval '1 year'`;
const HASH = 'sha256(gen_random_uuid()::text::bytea)';
/** Somebody of the organization, and somebody else. */
const person = (which: 0 | 1): string =>
  `(SELECT id FROM users WHERE organization_id = $1 ORDER BY created_at LIMIT 1 OFFSET ${String(which)})`;
const SESSION = {
  id: 'gen_random_uuid()',
  user_id: person(0),
  amr: `'{pwd}'`,
  authenticated_at: LONG_AGO,
  last_seen_at: LONG_AGO,
  idle_expires_at: LONG_AGO,
  expires_at: LONG_AGO,
  created_at: LONG_AGO,
};
const RETAINED: Readonly<Record<string, RetainedRows>> = {
  ...retainedByAll,
  'session-retention': {
    table: 'sessions',
    row: { ...SESSION, ended_at: LONG_AGO, ended_reason: `'idle'` },
  },
  'impersonation-retention': {
    table: 'impersonations',
    row: {
      id: 'gen_random_uuid()',
      actor_id: person(1),
      actor_session_id: 'gen_random_uuid()',
      user_id: person(0),
      reason: `'To see what is seen'`,
      amr: `'{pwd,mfa}'`,
      authenticated_at: LONG_AGO,
      expires_at: LONG_AGO,
      ended_at: LONG_AGO,
      ended_reason: `'logout'`,
      created_at: LONG_AGO,
    },
  },
  'oauth-browser-state-retention': {
    table: 'oauth_browser_states',
    whose: 'uid',
    row: { state_hash: HASH, kind: `'Interaction'`, payload: `'{}'`, expires_at: LONG_AGO },
  },
  'oauth-token-retention': {
    table: 'oauth_tokens',
    before: `
      INSERT INTO sessions (organization_id, ${Object.keys(SESSION).join(', ')}, ended_at, ended_reason)
      SELECT $1, ${Object.values(SESSION).join(', ')}, now(), 'idle'`,
    row: {
      token_hash: HASH,
      kind: `'RefreshToken'`,
      session_id: '(SELECT id FROM sessions WHERE organization_id = $1 LIMIT 1)',
      payload: `'{}'`,
      expires_at: LONG_AGO,
    },
  },
  'password-attempts-retention': {
    table: 'password_attempts',
    row: { id: 'gen_random_uuid()', address_hash: HASH, tried_at: LONG_AGO },
  },
  'password-reset-limit-retention': {
    table: 'password_reset_limits',
    row: { asker: 'n::text', asked_at: `'{}'`, last_asked_at: LONG_AGO },
  },
  'sign-ins-retention': {
    table: 'sign_ins',
    row: {
      uid: 'n::text',
      browser_hash: HASH,
      user_id: 'gen_random_uuid()',
      amr: `'{pwd}'`,
      authenticated_at: LONG_AGO,
      expires_at: LONG_AGO,
    },
  },
  'sso-request-retention': {
    table: 'sso_requests',
    row: {
      id: 'gen_random_uuid()',
      connection_id: 'gen_random_uuid()',
      interaction_uid: 'n::text',
      client_organization_id: 'gen_random_uuid()',
      state_hash: HASH,
      browser_hash: HASH,
      expires_at: LONG_AGO,
    },
  },
};

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
           VALUES ($1, $2, $3, 'Somebody', 'active', now(), now()),
                  ($1, $4, $5, 'Somebody else', 'active', now() + interval '1 s', now())`,
          [id, userOf.get(id), `${id}@example.com`, newId(), `else.${id}@example.com`],
        );
        return id;
      },
      pass: (ms) => (ahead += ms),
    };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => bench, 'identity.domain-events'),
    'session-sweep': {
      // More than it ends at once.
      many: 600,
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
    ...Object.fromEntries(
      Object.entries(RETAINED).map(([name, rows]) => [name, retainedRows(() => bench, rows)]),
    ),
  },
  without: {},
  mixed: true,
  mostWithout: 0,
});
