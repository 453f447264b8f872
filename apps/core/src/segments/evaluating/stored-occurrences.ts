import type { Condition, SegmentIndex } from '../../vocabulary/rules/segment-index.js';
import type { Occurrences } from '../../vocabulary/rules/evaluate.js';
import type { Asked } from '../../vocabulary/rules/rule.js';
import type { OccurrencesReader } from './contact-facts.js';

/** Of each contact and condition the newest so many, and all that lie ahead. */
const OCCURRENCES = `
  SELECT ARRAY(SELECT (extract(epoch FROM occurred_at) * 1000)::float8 FROM segment_matches AS match
                WHERE match.organization_id = $1 AND match.condition_id = asked.condition_id
                  AND match.contact_id = asked.contact_id AND occurred_at <= $5
                ORDER BY occurred_at DESC LIMIT asked.depth) AS past,
         ARRAY(SELECT (extract(epoch FROM occurred_at) * 1000)::float8 FROM segment_matches AS match
                WHERE match.organization_id = $1 AND match.condition_id = asked.condition_id
                  AND match.contact_id = asked.contact_id AND occurred_at > $5
                ORDER BY occurred_at) AS future
    FROM unnest($2::uuid[], $3::uuid[], $4::bigint[]) WITH ORDINALITY AS asked (contact_id, condition_id, depth, place)
   ORDER BY place`;

const NONE: Occurrences = { past: [], future: [] };

/**
 * Times of events from what is kept of the segments' conditions. Of each so many as decide its counts; `atLeast` so many
 * where somebody wants to see them.
 */
export function storedOccurrences(index: SegmentIndex, atLeast = 0): OccurrencesReader {
  return async (tx, questions, families, now) => {
    const asked: { key: string; memberId: string; condition: Condition; depth: number }[] = [];
    for (const [contactId, family] of families) {
      for (const [condition, depth] of depthsOf(index, questions.get(contactId) ?? [])) {
        const key = `${contactId} ${condition.id}`;
        for (const memberId of family)
          asked.push({ key, memberId, condition, depth: Math.max(depth, atLeast) });
      }
    }
    if (asked.length === 0) return () => NONE;
    const rows = await tx.query<{ past: number[]; future: number[] }>(OCCURRENCES, [
      tx.organizationId,
      asked.map(({ memberId }) => memberId),
      asked.map(({ condition }) => condition.id),
      asked.map(({ depth }) => depth),
      now,
    ]);
    const parts = new Map<string, Occurrences[]>();
    rows.forEach(({ past, future }, at) => {
      const one = asked[at];
      if (!one || past.length + future.length === 0) return;
      const part = past.length < one.depth ? { past, future } : { past, future, allAfter: past.at(-1) };
      const known = parts.get(one.key);
      if (known) known.push(part);
      else parts.set(one.key, [part]);
    });
    const found = new Map([...parts].map(([key, known]) => [key, together(known)]));
    return (contactId, node) => found.get(`${contactId} ${index.conditionOf(node).id}`) ?? NONE;
  };
}

/** How many events of each condition must be known for all counts to be answered. */
function depthsOf(index: SegmentIndex, rules: Iterable<Asked>): Map<Condition, number> {
  const depths = new Map<Condition, number>();
  for (const node of [...rules].flatMap(({ events }) => events)) {
    const condition = index.conditionOf(node);
    depths.set(condition, Math.max(depths.get(condition) ?? 0, node.count.value + 1));
  }
  return depths;
}

/** Of a contact and of those that were merged into it. */
function together(parts: readonly Occurrences[]): Occurrences {
  const [first = NONE, ...others] = parts;
  if (others.length === 0) return first;
  return {
    past: parts.flatMap(({ past }) => past).sort((a, b) => b - a),
    future: parts.flatMap(({ future }) => future).sort((a, b) => a - b),
    allAfter: parts.reduce((latest, { allAfter = -Infinity }) => Math.max(latest, allAfter), -Infinity),
  };
}
