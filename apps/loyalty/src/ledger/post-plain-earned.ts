import { bigints, byteas, integers, timestamps, type Transaction, uuids } from '@customer-platform/database';
import type { Head } from './entries.js';

/**
 * Whole postings in one statement: each row with its link, its one line, its lot and its part of the balance. A lot
 * that a new row opens cannot be there before it, so nothing is looked for.
 */
const POST = `
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest($3::uuid[], $4::bigint[], $5::uuid[], $6::uuid[], $7::int[], $8::bytea[], $9::timestamptz[],
                         $10::uuid[], $11::uuid[], $12::timestamptz[])
      AS given (id, points, subject_ref, rule_id, rule_version, hash, expires_at, event_id, correlation_id, occurred_at)),
  posted AS (
    INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
      actor_type, actor_id, expires_at, created_at)
    SELECT $1, id, 'earn', points, subject_ref, rule_id, rule_version, hash, $13, $14, expires_at, $2 FROM given
    ON CONFLICT (organization_id, rule_event_hash) WHERE rule_event_hash IS NOT NULL DO NOTHING
    RETURNING id),
  fresh AS MATERIALIZED (SELECT given.* FROM given JOIN posted USING (id)),
  linked AS (
    INSERT INTO links (organization_id, transaction_id, subject_ref, event_id, correlation_id, occurred_at)
    SELECT $1, id, subject_ref, event_id, correlation_id, occurred_at FROM fresh),
  lined AS (
    INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref)
    SELECT $1, id, id, points, subject_ref FROM fresh),
  opened AS (
    INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, expires_at, created_at)
    SELECT $1, subject_ref, id, points, expires_at, $2 FROM fresh),
  counted AS (
    UPDATE balances SET points = balances.points + sums.points
      FROM (SELECT subject_ref, sum(points) AS points FROM fresh GROUP BY subject_ref) AS sums
     WHERE balances.organization_id = $1 AND balances.subject_ref = sums.subject_ref)
  SELECT id FROM fresh`;

/**
 * Posts what rules gave to contacts that owe nothing; answers the ids of those whose (rule, event) had not earned
 * before. The locks of their subjects must be held.
 */
export async function postPlainEarned(
  tx: Transaction,
  heads: readonly Head[],
  now: Date,
): Promise<Set<string>> {
  const [first] = heads;
  if (first === undefined) return new Set();
  const rows = await tx.query<{ id: string }>(POST, [
    tx.organizationId,
    now,
    uuids(heads.map(({ id }) => id)),
    bigints(heads.map(({ points }) => points)),
    uuids(heads.map(({ subjectRef }) => subjectRef)),
    uuids(heads.map(({ rule }) => rule?.id)),
    integers(heads.map(({ rule }) => rule?.version)),
    byteas(heads.map(({ rule }) => rule?.eventHash)),
    timestamps(heads.map(({ expiresAt }) => expiresAt)),
    uuids(heads.map(({ link }) => link?.eventId)),
    uuids(heads.map(({ link }) => link?.correlationId)),
    timestamps(heads.map(({ link }) => link?.occurredAt)),
    first.actor.type,
    first.actor.id,
  ]);
  return new Set(rows.map(({ id }) => id));
}
