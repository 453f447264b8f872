import type { Transaction } from '@customer-platform/database';
import type { Candidate } from './evaluate.js';

/**
 * Net points of a rule and a contact within the period of an instant, in the cap's time zone: what was earned less
 * what was reversed of it. Each (rule, contact, period) is summed once, by itself, each row sought by its whole key
 * (OFFSET 0 keeps the planner from joining): joined as a whole, all that the organization or the rule ever posted is
 * read for every batch wherever statistics are not of this minute.
 */
const USED = `
  WITH asked AS MATERIALIZED (
    SELECT given.place, given.rule_id, given.contact_id, bounds.start, ending.until
      FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[])
           WITH ORDINALITY AS given (rule_id, contact_id, occurred_at, period, timezone, place)
     CROSS JOIN LATERAL (
       SELECT CASE WHEN given.period = 'lifetime' THEN '-infinity'::timestamptz
                   ELSE date_trunc(given.period, given.occurred_at, given.timezone) END AS start) AS bounds
     CROSS JOIN LATERAL (
       SELECT CASE WHEN given.period = 'lifetime' THEN 'infinity'::timestamptz
                   ELSE ((bounds.start AT TIME ZONE given.timezone) + ('1 ' || given.period)::interval)
                        AT TIME ZONE given.timezone END AS until) AS ending),
  used AS MATERIALIZED (
    SELECT one.rule_id, one.contact_id, one.start, one.until, sums.points
      FROM (SELECT DISTINCT rule_id, contact_id, start, until FROM asked) AS one
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(earned.points), 0) + coalesce(sum(reversal.points), 0) AS points
         FROM subjects subject
        CROSS JOIN LATERAL (
          SELECT id, points FROM transactions
           WHERE organization_id = $1 AND rule_id = one.rule_id AND subject_ref = subject.subject_ref
             AND kind = 'earn' OFFSET 0) AS earned
        CROSS JOIN LATERAL (
          SELECT occurred_at FROM links
           WHERE organization_id = $1 AND transaction_id = earned.id OFFSET 0) AS link
         LEFT JOIN LATERAL (
          SELECT points FROM transactions
           WHERE organization_id = $1 AND reverses_id = earned.id OFFSET 0) AS reversal ON true
        WHERE subject.organization_id = $1 AND subject.contact_id = one.contact_id
          AND link.occurred_at >= one.start AND link.occurred_at < one.until) AS sums)
  SELECT place::int AS place, start AS period_start, used.points AS used
    FROM asked JOIN used USING (rule_id, contact_id, start, until)`;

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
