import type { Transaction } from '@customer-platform/database';
import type { Condition, LiveSegment, SegmentIndex } from '../following/segment-index.js';
import type { Facts, Occurrences, Said } from '../rules/evaluate.js';
import type { EventNode } from '../rules/rule.js';
import { valueAt } from '../rules/values.js';
import { CONTACT_FIELDS } from '../rules/vocabulary.js';

const CONTACTS = `
  SELECT id, merged_into, deleted_at IS NULL AND merged_into IS NULL AND erased_at IS NULL AS active, external_id,
         email, phone, first_name, last_name, birth_date::text AS birth_date, locale, timezone, country, source,
         created_at, CASE WHEN id = ANY($3::uuid[]) THEN attributes END AS attributes
    FROM contacts WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

/** The contacts that were merged into others, one into another: their history is that of the last survivor. */
const FAMILIES = `
  WITH RECURSIVE family AS (
    SELECT merged_into AS survivor, id FROM contacts WHERE organization_id = $1 AND merged_into = ANY($2::uuid[])
    UNION
    SELECT family.survivor, merged.id FROM contacts AS merged JOIN family ON merged.merged_into = family.id
     WHERE merged.organization_id = $1)
  SELECT survivor, id FROM family`;

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

const SAID = `
  SELECT contact_id, purpose, channel, status, occurred_at, expires_at FROM consent_events
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND purpose = ANY($3::text[])`;

/** Which segments are asked about which contact. */
export type Questions = ReadonlyMap<string, ReadonlySet<LiveSegment>>;

/** A contact as rules see it; one that is not active is in no segment. */
export interface KnownContact {
  readonly active: boolean;
  readonly merged: boolean;
  readonly facts: Facts;
}

interface ContactRow extends Record<(typeof CONTACT_FIELDS)[number], unknown> {
  id: string;
  merged_into: string | null;
  active: boolean;
  created_at: Date;
  attributes: Record<string, unknown> | null;
}

interface SaidRow {
  contact_id: string;
  purpose: string;
  channel: string | null;
  status: string;
  occurred_at: Date;
  expires_at: Date | null;
}

/** Reads what the asked rules ask of the contacts, and nothing else; a contact that is no more is left out. */
export async function readFacts(
  tx: Transaction,
  index: SegmentIndex,
  questions: Questions,
  now: Date,
): Promise<Map<string, KnownContact>> {
  const rows = await readContacts(tx, questions);
  const active = rows.filter((row) => row.active).map(({ id }) => id);
  const families = await readFamilies(tx, active);
  const occurrences = await readOccurrences(tx, index, questions, families, now);
  const said = await readSaid(tx, questions, families);
  return new Map(
    rows.map((row) => {
      const facts: Facts = {
        attribute: (path) => attributeOf(row, path),
        said: (purpose) => said.get(`${row.id} ${purpose}`) ?? [],
        occurrences: (node) => occurrences.get(`${row.id} ${index.conditionOf(node).id}`) ?? NONE,
      };
      return [row.id, { active: row.active, merged: row.merged_into !== null, facts }];
    }),
  );
}

const NONE: Occurrences = { past: [], future: [] };

function readContacts(tx: Transaction, questions: Questions): Promise<ContactRow[]> {
  const withAttributes = [...questions].flatMap(([id, segments]) =>
    [...segments].some(({ asksAttributes }) => asksAttributes) ? id : [],
  );
  return tx.query<ContactRow>(CONTACTS, [tx.organizationId, [...questions.keys()], withAttributes]);
}

function attributeOf(row: ContactRow, path: string): unknown {
  if (path.startsWith('attributes.')) return valueAt(row.attributes, path.slice('attributes.'.length));
  const value = row[path as (typeof CONTACT_FIELDS)[number]];
  return value instanceof Date ? value.toISOString() : value;
}

/** The active contacts, each with the ids under which its history stands. */
async function readFamilies(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, string[]>> {
  const families = new Map(contactIds.map((id) => [id, [id]]));
  if (contactIds.length === 0) return families;
  const rows = await tx.query<{ survivor: string; id: string }>(FAMILIES, [tx.organizationId, contactIds]);
  for (const { survivor, id } of rows) families.get(survivor)?.push(id);
  return families;
}

async function readOccurrences(
  tx: Transaction,
  index: SegmentIndex,
  questions: Questions,
  families: ReadonlyMap<string, readonly string[]>,
  now: Date,
): Promise<Map<string, Occurrences>> {
  const asked: { key: string; memberId: string; condition: Condition; depth: number }[] = [];
  for (const [contactId, family] of families) {
    for (const [condition, depth] of depthsOf(index, questions.get(contactId) ?? new Set())) {
      const key = `${contactId} ${condition.id}`;
      for (const memberId of family) asked.push({ key, memberId, condition, depth });
    }
  }
  if (asked.length === 0) return new Map();
  const rows = await tx.query<{ past: number[]; future: number[] }>(OCCURRENCES, [
    tx.organizationId,
    asked.map(({ memberId }) => memberId),
    asked.map(({ condition }) => condition.id),
    asked.map(({ depth }) => depth),
    now,
  ]);
  const found = new Map<string, Occurrences>();
  rows.forEach(({ past, future }, at) => {
    const key = asked[at]?.key;
    if (key === undefined || past.length + future.length === 0) return;
    const known = found.get(key);
    found.set(key, known ? together(known, { past, future }) : { past, future });
  });
  return found;
}

/** How many events of each condition must be known for all counts to be answered. */
function depthsOf(index: SegmentIndex, segments: Iterable<LiveSegment>): Map<Condition, number> {
  const depths = new Map<Condition, number>();
  const nodes: EventNode[] = [...segments].flatMap(({ events }) => events);
  for (const node of nodes) {
    const condition = index.conditionOf(node);
    depths.set(condition, Math.max(depths.get(condition) ?? 0, node.count.value + 1));
  }
  return depths;
}

function together(one: Occurrences, other: Occurrences): Occurrences {
  return {
    past: [...one.past, ...other.past].sort((a, b) => b - a),
    future: [...one.future, ...other.future].sort((a, b) => a - b),
  };
}

async function readSaid(
  tx: Transaction,
  questions: Questions,
  families: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, Said[]>> {
  const purposes = new Set<string>();
  const holders = new Map<string, string>();
  for (const [contactId, family] of families) {
    const asked = [...(questions.get(contactId) ?? [])].flatMap((segment) => segment.purposes);
    if (asked.length === 0) continue;
    for (const purpose of asked) purposes.add(purpose);
    for (const id of family) holders.set(id, contactId);
  }
  if (holders.size === 0) return new Map();
  const rows = await tx.query<SaidRow>(SAID, [tx.organizationId, [...holders.keys()], [...purposes]]);
  const said = new Map<string, Said[]>();
  for (const { contact_id: id, purpose, channel, status, occurred_at, expires_at } of rows) {
    const key = `${holders.get(id) ?? id} ${purpose}`;
    const word = {
      channel,
      status,
      occurredAt: occurred_at.getTime(),
      expiresAt: expires_at?.getTime() ?? null,
    };
    said.set(key, [...(said.get(key) ?? []), word]);
  }
  return said;
}
