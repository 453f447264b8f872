import { adminUrl, onConnection } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';

const TOKENS_EACH = 10;
/** Of users who are there, spread over them; nobody can use what nobody knows the text of. */
const SESSIONS = `
WITH people AS (
  SELECT row_number() OVER () AS number, m.organization_id, m.user_id, count(*) OVER () AS total
    FROM memberships m JOIN users u ON u.id = m.user_id AND u.status = 'active'
), client AS (SELECT id, generation FROM oauth_clients WHERE name = 'Load' AND deleted_at IS NULL LIMIT 1)
INSERT INTO sessions (organization_id, id, user_id, amr, authenticated_at, last_seen_at, idle_expires_at, expires_at,
  user_agent, client_id, client_generation, created_at)
SELECT p.organization_id, gen_random_uuid(), p.user_id, '{pwd}', now(), now(), now() + interval '30 minutes',
       now() + interval '12 hours', 'load', c.id, c.generation, now()
  FROM generate_series(1, $1::int) AS series (number)
  JOIN people p ON p.number = 1 + series.number % p.total
 CROSS JOIN client c`;
const GRANTS = `
INSERT INTO oauth_grants (organization_id, session_id, client_id, browser, payload, created_at)
SELECT organization_id, id, client_id, gen_random_uuid()::text, '{"openid": {"scope": "openid offline_access"}}', now()
  FROM sessions WHERE user_agent = 'load' ON CONFLICT DO NOTHING`;
const TOKENS = `
INSERT INTO oauth_tokens (organization_id, token_hash, kind, session_id, payload, consumed_at, expires_at)
SELECT s.organization_id, sha256(gen_random_uuid()::text::bytea), 'RefreshToken', s.id,
       jsonb_build_object('grantId', s.organization_id || '.' || s.id, 'accountId', s.user_id, 'clientId', s.client_id,
         'scope', 'openid offline_access', 'gty', 'authorization_code refresh_token'),
       CASE WHEN nth < ${String(TOKENS_EACH)} THEN now() END, s.expires_at
  FROM sessions s CROSS JOIN generate_series(1, ${String(TOKENS_EACH)}) AS nth WHERE s.user_agent = 'load'`;

/** Puts sessions with refresh tokens into the platform's identity, as its administrator: nothing is told of them. */
export async function fillSessions(platform: Platform, sessions: number): Promise<void> {
  await onConnection(adminUrl(platform, 'identity'), async (client) => {
    // Without triggers: they would tell every service of every session.
    await client.query('SET session_replication_role = replica');
    await client.query(SESSIONS, [sessions]);
    await client.query(GRANTS);
    await client.query(TOKENS);
    // What a bulk of rows leaves to be done is not what they cost later.
    await client.query('VACUUM (ANALYZE) sessions, oauth_grants, oauth_tokens');
    await client.query('CHECKPOINT');
  });
}
