import { onConnection } from '@customer-platform/kit/databases.ts';
import type pg from 'pg';

/** Whose rows they are, and what they belong to. */
export interface Seeded {
  organizationId: string;
  /** Of the rule that all sends wait for. */
  ruleId: string;
  /** Of the endpoint that is to be told of all events. */
  endpointId: string;
}

/** One transaction of so many rows. */
const ROWS_AT_ONCE = 50_000;
const CONTACTS = 100_000;

/** The contact with this number; there are a hundred thousand, each with as many rows. */
const CONTACT = `('0199a000-0000-7000-8000-' || lpad(to_hex(n % ${String(CONTACTS)}), 12, '0'))::uuid`;

/** Held for a month, each with what it is made of and its first step. */
const SENDS = `
  WITH made AS (
    SELECT n, gen_random_uuid() AS id FROM generate_series($3::int, $4::int) n
  ), sends AS (
    INSERT INTO sends (organization_id, id, channel, state, reason, category, contact_id, recipient, source, source_id,
      event_id, correlation_id, lane, due_at, release_at, created_at, updated_at)
    SELECT $1, id, 'email', 'held', 'quiet_hours', 'marketing', ${CONTACT}, jsonb_build_object('contact_id', ${CONTACT}),
      'routing', $2, gen_random_uuid(), gen_random_uuid(), 1, now() + interval '30 days', now() + interval '30 days',
      now() - interval '1 hour', now() - interval '1 hour' FROM made
  ), payloads AS (
    INSERT INTO send_payloads (organization_id, send_id, data) SELECT $1, id, jsonb_build_object('n', n) FROM made
  )
  INSERT INTO send_history (organization_id, send_id, state, reason, attempt, occurred_at)
  SELECT $1, id, 'held', 'quiet_hours', 0, now() FROM made`;

/** Due in a month; every hundredth is about no one contact, so that an erasure must look into it. */
const DELIVERIES = `
  INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, type, payload, correlation_id, contact_id,
    due_at, created_at)
  SELECT $1, $2, gen_random_uuid(), 'core.contact.updated', '{"contact_id":"' || ${CONTACT} || '","changed":["plan"]}',
    gen_random_uuid(), CASE WHEN n % 100 = 0 THEN NULL ELSE ${CONTACT} END, now() + interval '30 days', now()
    FROM generate_series($3::int, $4::int) n`;

/** Older than they are kept. */
const REPORTS = `
  INSERT INTO provider_reports (organization_id, provider, provider_message_id, event_key, event, occurred_at,
    received_at, applied_at, send_id)
  SELECT $1, 'standard', 'message-' || n, 'event:delivered', 'delivered', now() - interval '100 days',
    now() - interval '100 days', now() - interval '100 days', $2
    FROM generate_series($3::int, $4::int) n`;

const CONTACT_ROWS = `
  INSERT INTO contacts (organization_id, id, version, state, external_id, email, email_canonical)
  SELECT $1, ${CONTACT}, 1, 'active', 'person-' || n, 'person-' || n || '@example.com', 'person-' || n || '@example.com'
    FROM generate_series(0, ${String(CONTACTS - 1)}) n`;

/** The id of the contact that the erasure is of. */
export const ERASED = `0199a000-0000-7000-8000-${(7).toString(16).padStart(12, '0')}`;

/** Fills the tables, three at a time, as a role that row level security does not bind. */
export async function fill(databaseUrl: string, rows: number, seeded: Seeded): Promise<void> {
  const { organizationId, ruleId, endpointId } = seeded;
  await within(databaseUrl, (client) => client.query(CONTACT_ROWS, [organizationId]));
  await Promise.all([
    inParts(databaseUrl, SENDS, [organizationId, ruleId], rows),
    inParts(databaseUrl, DELIVERIES, [organizationId, endpointId], rows),
    inParts(databaseUrl, REPORTS, [organizationId, ruleId], rows),
  ]);
  // Statistics of when the tables were empty would have every plan be wrong.
  await within(databaseUrl, (client) => client.query('VACUUM ANALYZE'));
}

async function inParts(databaseUrl: string, sql: string, ids: string[], rows: number): Promise<void> {
  await within(databaseUrl, async (client) => {
    for (let from = 1; from <= rows; from += ROWS_AT_ONCE)
      await client.query(sql, [...ids, from, Math.min(rows, from + ROWS_AT_ONCE - 1)]);
  });
}

async function within(databaseUrl: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await onConnection(databaseUrl, async (client) => {
    await client.query('SET synchronous_commit = off');
    await work(client);
  });
}
