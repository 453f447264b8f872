import { texts, timestamps, type Transaction, uuids } from '@customer-platform/database';
import { storedTimeZone } from '@customer-platform/http';
import type { Subjects } from '../ledger/subjects.js';
import type { Candidate } from './evaluate.js';

/** A candidate with whose points it would be; its contact's subjects are locked. */
export type Owned = Candidate & { contactId: string };

/**
 * What a rule ever gave a ref, less what was reversed of it: at least what counts within any period. Each pair is sought
 * by itself, through the index (see USED).
 */
const EVER = `
  SELECT pair.place::int AS place, earned.points
    FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS pair (rule_id, subject_ref, place)
   CROSS JOIN LATERAL (
     SELECT points FROM earned_points
      WHERE organization_id = $1 AND rule_id = pair.rule_id AND subject_ref = pair.subject_ref OFFSET 0) AS earned`;

/**
 * The candidates that a cap may cut: the others' caps exceed all that the rule ever gave the contact and all that it
 * would give now. That is soon seen, and of most; only of the rest must be known what counts.
 */
export async function nearCaps(
  tx: Transaction,
  candidates: readonly Owned[],
  subjects: ReadonlyMap<string, Subjects>,
): Promise<Set<Owned>> {
  const capped = candidates.filter(({ content }) => content.maxPerContact !== null);
  if (capped.length === 0) return new Set();
  const groups = [...Map.groupBy(capped, groupOf).values()];
  const pairs = groups.flatMap((group) => {
    const [{ ruleId, contactId }] = group as [Owned];
    return (subjects.get(contactId)?.all ?? []).map((subjectRef) => ({ group, ruleId, subjectRef }));
  });
  const rows = await tx.query<{ place: number; points: string }>(EVER, [
    tx.organizationId,
    uuids(pairs.map(({ ruleId }) => ruleId)),
    uuids(pairs.map(({ subjectRef }) => subjectRef)),
  ]);
  const ever = new Map<Owned[], number>();
  for (const { place, points } of rows) {
    const group = pairs[place - 1]?.group as Owned[];
    ever.set(group, (ever.get(group) ?? 0) + Number(points));
  }
  const near = groups.filter((group) => {
    const most = group.reduce((sum, { points }) => sum + points, ever.get(group) ?? 0);
    return group.some(({ content }) => most > (content.maxPerContact?.points ?? Infinity));
  });
  return new Set(near.flat());
}

const groupOf = ({ ruleId, contactId }: Owned): string => `${ruleId} ${contactId}`;

/**
 * Net points of a rule and a contact within the period of an instant, in the cap's time zone: what was earned less
 * what was reversed of it. Each (rule, contact, period) is summed once, by itself, each row sought by its whole key
 * (OFFSET 0 keeps the planner from joining): joined as a whole, all that the organization or the rule ever posted is
 * read for every batch wherever statistics are not of this minute. A period is a range of the contact's time, however
 * long its history is; a lifetime is counted as it is posted. Whether an instant is of the period, its date there tells:
 * where clocks change at midnight, a day's first hour may be missing or come twice, and no range of instants is right.
 */
const USED = `
  WITH asked AS MATERIALIZED (
    SELECT given.place, given.rule_id, given.contact_id, given.period, given.timezone,
           CASE WHEN given.period <> 'lifetime'
                THEN date_trunc(given.period, given.occurred_at AT TIME ZONE given.timezone) END AS start
      FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[])
           WITH ORDINALITY AS given (rule_id, contact_id, occurred_at, period, timezone, place)),
  used AS MATERIALIZED (
    SELECT one.*, sums.points
      FROM (SELECT DISTINCT rule_id, contact_id, period, timezone, start FROM asked) AS one
     CROSS JOIN LATERAL (
       SELECT (one.start - interval '1 day') AT TIME ZONE one.timezone AS earliest,
              (one.start + ('1 ' || nullif(one.period, 'lifetime'))::interval + interval '1 day')
                AT TIME ZONE one.timezone AS latest) AS bounds
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(earned.points), 0) + coalesce(sum(reversal.points), 0) AS points
         FROM subjects subject
        CROSS JOIN LATERAL (
          SELECT NULL::uuid AS id, points FROM earned_points
           WHERE one.start IS NULL AND organization_id = $1 AND rule_id = one.rule_id
             AND subject_ref = subject.subject_ref
          UNION ALL
          SELECT earning.id, earning.points
            FROM (SELECT transaction_id FROM links
                   WHERE organization_id = $1 AND subject_ref = subject.subject_ref
                     AND occurred_at >= bounds.earliest AND occurred_at < bounds.latest
                     AND date_trunc(one.period, occurred_at AT TIME ZONE one.timezone) = one.start OFFSET 0) AS link
           CROSS JOIN LATERAL (
             SELECT id, points, rule_id, kind FROM transactions
              WHERE organization_id = $1 AND id = link.transaction_id OFFSET 0) AS earning
           WHERE earning.rule_id = one.rule_id AND earning.kind = 'earn') AS earned
         LEFT JOIN LATERAL (
          SELECT points FROM transactions
           WHERE organization_id = $1 AND reverses_id = earned.id OFFSET 0) AS reversal ON true
        WHERE subject.organization_id = $1 AND subject.contact_id = one.contact_id) AS sums)
  SELECT asked.place::int AS place, concat_ws(' ', period, timezone, asked.start) AS period, used.points AS used
    FROM asked JOIN used USING (rule_id, contact_id, period, timezone)
   WHERE asked.start IS NOT DISTINCT FROM used.start`;

interface UsedRow {
  place: number;
  period: string;
  used: string;
}

/**
 * Cuts those that are near their contact's caps to what is left of them, in their order; those with nothing left go.
 * The subjects' locks must be held, so that no other transaction counts at the same time.
 */
export async function cutToCaps(
  tx: Transaction,
  candidates: readonly Owned[],
  near: ReadonlySet<Owned>,
): Promise<Owned[]> {
  const capped = candidates.filter((candidate) => near.has(candidate));
  if (capped.length === 0) return [...candidates];
  const rows = await tx.query<UsedRow>(USED, [
    tx.organizationId,
    uuids(capped.map(({ ruleId }) => ruleId)),
    uuids(capped.map(({ contactId }) => contactId)),
    timestamps(capped.map(({ event }) => event.occurred_at)),
    texts(capped.map(({ content }) => content.maxPerContact?.period)),
    texts(capped.map(({ content }) => storedTimeZone(content.maxPerContact?.timezone ?? 'UTC'))),
  ]);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  const granted = new Map<string, number>();
  const left = new Map<Candidate, number>();
  capped.forEach((candidate, index) => {
    const row = byPlace.get(index + 1);
    const period = `${groupOf(candidate)} ${String(row?.period)}`;
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
