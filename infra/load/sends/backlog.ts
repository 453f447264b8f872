import { randomUUID } from 'node:crypto';
import { adminUrl, onConnection } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';

const FAR_MS = 86_400_000;
/** So many rows in a statement. */
const AT_ONCE = 10_000;

/** What a table holds of the copy of a row: the row itself, but for what is its own. */
const SENDS = `
  WITH made AS (
    INSERT INTO sends SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'due_at', $4::timestamptz,
      'release_at', NULL, 'address', a.address, 'address_key', 'backlog of ' || a.address,
      'recipient', jsonb_build_object('address', a.address)))).*
      FROM sends s, LATERAL (SELECT format($3, n) AS address FROM generate_series($5::int, $6::int) AS n) AS a
     WHERE s.organization_id = $1 AND s.id = $2
    RETURNING organization_id, id
  ), payloads AS (
    INSERT INTO send_payloads SELECT (jsonb_populate_record(p, jsonb_build_object('send_id', made.id))).*
      FROM made JOIN send_payloads p ON p.organization_id = $1 AND p.send_id = $2
  )
  INSERT INTO send_history (organization_id, send_id, state, attempt, occurred_at)
  SELECT organization_id, id, 'accepted', 0, now() FROM made`;

/**
 * Leaves `count` accepted sends behind that all become due when this resolves, as an outage of a mail server leaves
 * them: one is sent with the API, the others are its copies. @returns what their addresses begin with
 */
export async function leaveBacklog(platform: Platform, count: number): Promise<string> {
  const { organization_id: organizationId } = platform;
  const prefix = `backlog-${randomUUID().slice(0, 8)}-`;
  const admin = await adminOf(platform);
  const { data: sent } = await admin.POST('/v1/messaging/sends', {
    body: {
      channel: 'email',
      recipient: { address: `${prefix}0@example.com` },
      content: { subject: 'Your order {{ data.order }}', html: '<p>It is on its way, {{ data.name }}.</p>' },
      data: { order: 'A-1', name: 'Ana' },
      not_before: new Date(Date.now() + FAR_MS).toISOString(),
    },
    idempotencyKey: prefix,
  });
  const { send_id: id } = sent;
  await onConnection(adminUrl(platform, 'messaging'), async (client) => {
    const later = new Date(Date.now() + FAR_MS);
    for (let from = 1; from < count; from += AT_ONCE) {
      const to = Math.min(from + AT_ONCE, count) - 1;
      await client.query(SENDS, [organizationId, id, `${prefix}%s@example.com`, later, from, to]);
    }
    await client.query(
      `UPDATE sends SET due_at = now(), release_at = NULL, state = 'accepted' WHERE organization_id = $1 AND address LIKE $2 AND due_at > now()`,
      [organizationId, `${prefix}%`],
    );
  });
  return prefix;
}
