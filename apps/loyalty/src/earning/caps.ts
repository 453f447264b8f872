import type { Transaction } from '@customer-platform/database';
import type { Candidate } from './evaluate.js';

/**
 * Net points of a rule and a contact within the period of an instant, in the cap's time zone: what was earned less
 * what was reversed of it.
 */
const USED = `
  SELECT asked.place::int AS place, bounds.start AS period_start,
         coalesce(sum(earned.points), 0) + coalesce(sum(reversal.points), 0) AS used
    FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[])
         WITH ORDINALITY AS asked (rule_id, contact_id, occurred_at, period, timezone, place)
   CROSS JOIN LATERAL (
     SELECT CASE WHEN asked.period = 'lifetime' THEN '-infinity'::timestamptz
                 ELSE date_trunc(asked.period, asked.occurred_at, asked.timezone) END AS start) AS bounds
   CROSS JOIN LATERAL (
     SELECT CASE WHEN asked.period = 'lifetime' THEN 'infinity'::timestamptz
                 ELSE ((bounds.start AT TIME ZONE asked.timezone) + ('1 ' || asked.period)::interval)
                      AT TIME ZONE asked.timezone END AS until) AS ending
    LEFT JOIN subjects subject ON subject.organization_id = $1 AND subject.contact_id = asked.contact_id
    LEFT JOIN LATERAL (
      SELECT t.id, t.points FROM transactions t
        JOIN links link ON link.organization_id = $1 AND link.transaction_id = t.id
       WHERE t.organization_id = $1 AND t.rule_id = asked.rule_id AND t.subject_ref = subject.subject_ref
         AND t.kind = 'earn' AND link.occurred_at >= bounds.start AND link.occurred_at < ending.until) AS earned ON true
    LEFT JOIN transactions reversal ON reversal.organization_id = $1 AND reversal.reverses_id = earned.id
   GROUP BY asked.place, bounds.start`;

interface UsedRow {
  place: number;
  period_start: Date | number;
  used: string;
}

/**
 * Cuts candidates to what is left of their contact's caps, in their order; those with nothing left go. The subjects'
 * locks must be held, so that no other transaction counts at the same time.
 */
export async function cutToCaps(
  tx: Transaction,
  candidates: readonly (Candidate & { contactId: string })[],
): Promise<(Candidate & { contactId: string })[]> {
  const capped = candidates.filter(({ content }) => content.maxPerContact !== null);
  if (capped.length === 0) return [...candidates];
  const rows = await tx.query<UsedRow>(USED, [
    tx.organizationId,
    capped.map(({ ruleId }) => ruleId),
    capped.map(({ contactId }) => contactId),
    capped.map(({ event }) => event.occurred_at),
    capped.map(({ content }) => content.maxPerContact?.period),
    capped.map(({ content }) => content.maxPerContact?.timezone),
  ]);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  const granted = new Map<string, number>();
  const left = new Map<Candidate, number>();
  capped.forEach((candidate, index) => {
    const row = byPlace.get(index + 1);
    const period = `${candidate.ruleId} ${candidate.contactId} ${String(row?.period_start)}`;
    const used = Number(row?.used ?? 0) + (granted.get(period) ?? 0);
    const points = Math.min(
      candidate.points,
      Math.max(0, (candidate.content.maxPerContact?.points ?? 0) - used),
    );
    granted.set(period, (granted.get(period) ?? 0) + points);
    left.set(candidate, points);
  });
  return candidates
    .map((candidate) => ({ ...candidate, points: left.get(candidate) ?? candidate.points }))
    .filter(({ points }) => points > 0);
}
